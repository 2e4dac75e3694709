import { createQueue, type Queue } from "@atlasqueue/core";
import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { createTestQueue } from "./index.ts";

const email = (to: string) => ({ type: "email.send", payload: { to } });

const told = async (queue: Queue) => {
  const said: unknown[] = [];
  const say = async (name: string, done: Promise<unknown>) => said.push([name, await done.then(ofOutcome, ofError)]);
  const keyed = { ...email("ada"), idempotency_key: "once" };
  await say("new", queue.submit(keyed));
  await say("again", queue.submit(keyed));
  await say("other", queue.submit({ ...keyed, payload: {} }));
  await say("bad", queue.submit({ type: "", max_attempts: 99 }));
  await say("bad key", queue.submit({ ...keyed, idempotency_key: "" }));
  await say("delayed", queue.submit({ ...email("b"), delay_seconds: 60 }));
  await say("unique", queue.submit({ ...email("u"), unique: { key: "k", on_conflict: "reject" } }));
  await say("taken", queue.submit({ ...email("v"), unique: { key: "k", on_conflict: "reject" } }));
  await say("returned", queue.submit({ ...email("v"), unique: { key: "k" } }));
  await say(
    "replaced",
    queue.submit({ ...email("w"), delay_seconds: 9, unique: { key: "k", on_conflict: "replace" } }),
  );
  await say("first of group", queue.submit({ ...email("g"), group: "g" }));
  await say("second of group", queue.submit({ ...email("h"), group: "g" }));
  const flow = {
    jobs: [
      { type: "a", ref: "a" },
      { type: "b", depends_on: ["a"] },
    ],
    then: { type: "c" },
  };
  await say("flow", queue.submitFlow({ ...flow, idempotency_key: "flow" }));
  await say("flow again", queue.submitFlow({ ...flow, idempotency_key: "flow" }));
  await say("circle", queue.submitFlow({ jobs: [{ type: "a", ref: "a", depends_on: ["a"] }] }));
  const stranger = "00000000-0000-7000-8000-000000000000";
  await say("stranger", queue.submitFlow({ jobs: [{ type: "a", depends_on: [stranger] }] }));
  await say("many", queue.submitMany([email("1"), keyed]));
  await say("bad cron", queue.schedules.put({ name: "s", cron: "61 * * * *", job: { type: "a" } }));
  return said;
};

const ofError = (error: unknown) => {
  const { name, message } = error as Error;
  return [name, message.replaceAll(/[0-9a-f-]{36}/g, "<id>")];
};
const ofOutcome = (outcome: unknown) =>
  JSON.parse(JSON.stringify(outcome).replaceAll(/"[0-9a-f-]{36}"/g, '"<id>"')) as unknown;

test("submissions are answered as those to a real database are", async () => {
  const { url, drop } = await testDatabase();
  const real = createQueue({ databaseUrl: url });
  onTestFinished(async () => {
    await real.close();
    await drop();
  });
  expect(await told(createTestQueue())).toEqual(await told(real));
});
