import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { post } from "./remote-client.ts";
import { startSystem, type Api } from "./system.ts";

const env = {
  WORKER_LEASE_SECONDS: "1",
  WORKER_HANDLERS: fileURLToPath(new URL("../test/step-handlers.ts", import.meta.url)),
};
const system = forFile(startSystem);
let api: Api;

beforeAll(async () => {
  await system.sql`CREATE TABLE step_runs (id bigserial, job_id uuid, step text)`;
  await system.sql`CREATE TABLE step_hangs AS SELECT true AS hangs`;
  api = await system.startApi();
});

const runs = async (id: string) =>
  (await system.sql`SELECT step FROM step_runs WHERE job_id = ${id} ORDER BY id`).map(({ step }) => step as string);
const signal = async (id: string) =>
  (await post(api.url, `/jobs/${id}/signals/approved`, { payload: { by: "ada" } })).body;

test("a worker killed between two steps, and one killed while the job waits: only what was not done is done", async () => {
  const id = await api.create({ type: "order" });
  const first = await system.startWorker(env);
  await eventually(async () => expect(await runs(id)).toEqual(["first", "second"]));
  first.kill("SIGKILL");
  await first.waitForExit();
  await system.sql`UPDATE step_hangs SET hangs = false`;

  const second = await system.startWorker(env);
  await eventually(async () =>
    expect(await api.read(id)).toMatchObject({ status: "scheduled", waits_for: "approved" }),
  );
  expect(await runs(id)).toEqual(["first", "second", "second"]);
  expect(await api.read(id), "the kill cost one attempt, the wait none").toMatchObject({ attempts: 1 });
  second.kill("SIGKILL");
  await second.waitForExit();

  expect(await signal(id)).toEqual({ outcome: "sent" });
  expect(await signal(id)).toEqual({ outcome: "sent_before" });
  await system.startWorker(env);
  await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded" }));
  expect(await api.read(id)).toMatchObject({ attempts: 2, result: { timed_out: false, payload: { by: "ada" } } });
  expect(await runs(id)).toEqual(["first", "second", "second", "third"]);
});

test("a signal whose hint is lost with Redis is found by the sweep", async () => {
  await system.startWorker(env);
  const id = await api.create({ type: "order" });
  await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "scheduled" }));
  const [told] = await Promise.all([signal(id), system.redis.flushall()]);
  expect(told).toEqual({ outcome: "sent" });
  await system.redis.flushall();
  await eventually(async () => expect(await api.read(id)).toMatchObject({ status: "succeeded" }));
});
