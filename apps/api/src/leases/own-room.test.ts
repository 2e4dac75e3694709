import { memorySignal } from "@atlasqueue/core";
import { eventually, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";
import { createAnswerRoom } from "../http/answers/room.ts";

const room_max = 1_000;
const answers = createAnswerRoom({ room_max });
const claiming = Promise.withResolvers<void>();
const answered = Promise.withResolvers<void>();
let own: TestDatabase;
let api: Awaited<ReturnType<typeof testApp>>;
beforeAll(async () => {
  own = await testDatabase();
  const database = steppingDatabase(own.database, async (step, _number, text) => {
    if (step !== "commit" || !text.includes("attempts = attempts + 1")) return;
    claiming.resolve();
    await answered.promise;
  });
  api = await testApp({ signal: memorySignal(), answers, database });
});
afterAll(async () => {
  answered.resolve();
  await api.stop();
  await own.drop();
});

const isFree = () => {
  const all = answers.place("somebody", room_max);
  const free = all.enterNow();
  all.leave();
  return free;
};

test("a call whose wait ends during its claim has its room until its jobs are read, and they go back", async () => {
  const caller = new AbortController();
  const body = JSON.stringify({ worker_id: "w", wait_seconds: 20 });
  const asked = { method: "POST", headers: { "content-type": "application/json" }, body };
  const address = "http://localhost/v1/queues/q/lease";
  const call = api.app.request(address, asked, { given_up: caller.signal });
  await eventually(() => expect(api.deps.longPoll.askedFor()).toHaveLength(1));
  await api.post("k", { type: "a", queue: "q" });
  await claiming.promise;
  caller.abort();
  expect((await call).status).toBe(200);
  expect(isFree()).toBe(false);
  answered.resolve();
  await eventually(() => expect(isFree()).toBe(true));
  await eventually(async () => {
    const [job] = await own.database.sql`SELECT status, attempts FROM atlasqueue.jobs`;
    expect(job).toEqual({ status: "queued", attempts: 0 });
  });
});
