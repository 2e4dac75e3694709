import { expect, test } from "vitest";
import { createAdvancer } from "./advancer.ts";

test("a caller that asks for a pass gets one, however much others go on asking", async () => {
  const pass = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return { more: false, left: false };
  };
  const advancer = createAdvancer({ observe: () => {} }, "a test", pass, (error) => expect.fail(error));
  let over = false;
  let asked = 0;
  const ask = async () => {
    for (; !over; asked += 1) await advancer.kick();
  };
  const others = [ask(), ask()];
  for (let at = 0; at < 20; at += 1) await advancer.kick();
  expect(asked).toBeGreaterThan(10);
  over = true;
  await Promise.all(others);
  await advancer.idle();
  advancer.stop();
});
