import { recordEvents, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memorySignal } from "../signal/memory/signal.ts";
import { advanceAll } from "../groups/advance-all.ts";
import { createAdvancer } from "./advancer.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

test("a caller that asks for a pass gets one, however much others go on asking", async () => {
  const deps = { database: own.database, observe: recordEvents().observe, signal: memorySignal() };
  const groups = createAdvancer(
    deps,
    "handing groups on",
    () => advanceAll(deps),
    (error) => expect.fail(error),
  );
  let over = false;
  let asked = 0;
  const ask = async () => {
    for (; !over; asked += 1) await groups.kick();
  };
  const others = [ask(), ask()];
  for (let at = 0; at < 20; at += 1) await groups.kick();
  expect(asked).toBeGreaterThan(10);
  over = true;
  await Promise.all(others);
  await groups.idle();
  groups.stop();
});
