// @module-tag nightly
import { randomUUID } from "node:crypto";
import type { Job } from "@atlasqueue/contract";
import { migrateDatabase } from "@atlasqueue/core";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { eventually, ownServers } from "@atlasqueue/harness";
import { replicaSteps } from "./replica-page.ts";
import { startSystem, type Api, type System } from "./system.ts";

// To another PostgreSQL by a logical replica, as apps/docs/pages/operate/upgrading.md says it.

async function restartWith({ servers, sql }: System, setting: string): Promise<void> {
  await sql.unsafe(`ALTER SYSTEM SET ${setting}`);
  await servers.postgres.stop();
  await servers.postgres.restart();
}

const settled = (api: Api, ids: readonly string[], status: string) =>
  eventually(async () => {
    for (const id of ids) expect(await api.read(id)).toMatchObject({ status });
  });
const post = async (api: Api, path: string, body?: object) => {
  const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
  const answer = await fetch(`${api.url}/v1/${path}`, {
    method: "POST",
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBeLessThan(300);
  return answer;
};
const flow = async (api: Api, queue: string): Promise<string[]> => {
  const job = { type: "demo.echo", queue, payload: {} };
  const made = await post(api, "jobs/batch", {
    jobs: [
      { ...job, ref: "a" },
      { ...job, depends_on: ["a"] },
    ],
  });
  return ((await made.json()) as { jobs: Job[] }).jobs.map(({ id }) => id);
};
const group = async (api: Api, queue: string): Promise<string[]> => {
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) ids.push(await api.create({ type: "demo.echo", queue, group: "g", payload: {} }));
  return ids;
};
const dies = (api: Api) => api.create({ type: "demo.fail", max_attempts: 2, payload: {} });

test("the system goes on with a logical replica of its database: nothing is lost, and nothing runs twice", async () => {
  const system = await startSystem();
  onTestFinished(() => system.stop());
  await restartWith(system, "wal_level = 'logical'");
  const other = await ownServers();
  onTestFinished(() => other.stop());
  await migrateDatabase(other.postgres.url);
  const urls = { OLD: system.servers.postgres.url, NEW: other.postgres.url };
  const [publish, subscribe, isCopied, isCaughtUp, takeOver] = replicaSteps("upgrading", urls);

  let api = await system.startApi();
  let worker = await system.startWorker({ WORKER_QUEUES: "default,held" });
  const done = [await api.create({ type: "demo.echo", payload: {} })];
  const dead = [await dies(api)];
  await settled(api, done, "succeeded");
  await settled(api, dead, "dead");
  await post(api, "queues/held/pause");
  const waiting = [...(await flow(api, "held")), ...(await group(api, "held"))];

  await publish?.();
  await subscribe?.();
  await eventually(async () => expect(await isCopied?.()).toEqual([{ copied: true }]));

  // It runs on.
  done.push(...(await flow(api, "default")), ...(await group(api, "default")));
  dead.push(await dies(api));
  await settled(api, done, "succeeded");
  await settled(api, dead, "dead");
  const later = await api.create({ type: "demo.echo", payload: {}, delay_seconds: 3_600 });
  const keyed = { type: "demo.echo", payload: { keyed: true } };
  expect((await api.submit(keyed, "key")).status).toBe(201);

  for (const one of [api.process, worker]) {
    one.kill("SIGTERM");
    expect(await one.waitForExit()).toMatchObject({ code: 0 });
  }
  await eventually(async () => expect(await isCaughtUp?.()).toEqual([{ copied: true }]));
  await takeOver?.();
  const sql = postgres(urls.NEW, { max: 1 });
  for (const table of ["job_attempts", "outbox"]) {
    const ids = `SELECT nextval('atlasqueue.${table}_id_seq') > coalesce(max(id), 0) AS new FROM atlasqueue.${table}`;
    expect(await sql.unsafe(ids)).toEqual([{ new: true }]);
  }
  await sql.end();

  const env = { DATABASE_URL: urls.NEW };
  api = await system.startApi(env);
  worker = await system.startWorker({ ...env, WORKER_QUEUES: "default,held" });
  await settled(api, done, "succeeded");
  for (const id of done) expect(await api.read(id)).toMatchObject({ attempts: 1 });
  expect(await api.read(later)).toMatchObject({ status: "scheduled" });
  expect((await api.submit(keyed, "key")).status).toBe(200);
  await post(api, "queues/held/resume");
  await settled(api, waiting, "succeeded");
  for (const id of waiting) expect(await api.read(id)).toMatchObject({ attempts: 1 });
  await settled(api, [...dead, await dies(api)], "dead");
  await settled(api, [...(await flow(api, "default")), ...(await group(api, "default"))], "succeeded");
  await eventually(async () => {
    const doctor = await system.cli(["doctor", "--json"], env);
    expect([await doctor.waitForExit(), doctor.lines]).toMatchObject([{ code: 0 }, expect.anything()]);
  });
}, 200_000);
