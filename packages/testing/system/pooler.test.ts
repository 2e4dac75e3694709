import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, pgBouncer, type PgBouncer, type SpawnedProcess } from "../src/index.ts";
import { inParallel, startSystem, type Api, type System } from "./system.ts";

let system: System;
let pooler: PgBouncer;
beforeAll(async () => {
  system = await startSystem();
  // Fewer connections than one of the processes has: hardly a statement meets the connection it was prepared on.
  pooler = await pgBouncer(system.servers.postgres.url, { pool_size: 4 });
});
afterAll(async () => {
  await pooler.stop();
  await system.stop();
});

const groups = Array.from({ length: 20 }, (_, at) => `g${at}`);

test("behind a PgBouncer in transaction mode that keeps no prepared statements all runs, and the log says once why", async () => {
  const env = { DATABASE_URL: pooler.url };
  const api = await system.startApi(env);
  const processes: SpawnedProcess[] = [api.process];
  for (let count = 0; count < 2; count += 1)
    processes.push(await system.startWorker({ ...env, WORKER_QUEUES: "default,slow,ticks" }));
  await limited(api, "slow");

  await insist(api, "PUT", "/v1/schedules/often", { cron: "* * * * *", job: { type: "noop", queue: "ticks" } });
  const tick = (await insist(api, "POST", "/v1/schedules/often/run")) as { id: string };
  const plain = await inParallel(100, 20, (at) => create(api, { type: "demo.echo", payload: { at } }, `plain-${at}`));
  const slow = await inParallel(20, 10, (at) => create(api, { type: "noop", queue: "slow" }, `slow-${at}`));
  const grouped = await inParallel(groups.length, 10, async (at) => {
    const ids: string[] = [];
    for (const turn of ["first", "second", "third"])
      ids.push(await create(api, { type: "noop", group: groups[at] }, `${groups[at]}-${turn}`));
    return ids;
  });
  const flaky = await create(api, { type: "demo.flaky", payload: { fail_times: 2 } }, "flaky");
  const dead = await create(api, { type: "demo.fail", max_attempts: 1 }, "dead");
  const again = await create(api, { type: "demo.echo", payload: { at: 0 } }, "plain-0");
  expect(again).toBe(plain[0]);

  await eventually(
    async () => {
      const rows = await system.sql<{ status: string; n: number }[]>`
        SELECT status, count(*)::int AS n FROM jobs WHERE queue <> 'ticks' GROUP BY status ORDER BY status`;
      const all = plain.length + slow.length + grouped.flat().length + 1;
      expect(rows).toEqual([
        { status: "dead", n: 1 },
        { status: "succeeded", n: all },
      ]);
    },
    { timeout_ms: 60_000 },
  );
  for (const ids of grouped) {
    const ended = await system.sql<
      { id: string }[]
    >`SELECT id FROM jobs WHERE id IN ${system.sql(ids)} ORDER BY finished_at`;
    expect(ended.map(({ id }) => id)).toEqual(ids);
  }
  await eventually(async () => expect(await api.read(tick.id)).toMatchObject({ status: "succeeded", queue: "ticks" }));
  expect(await api.read(flaky)).toMatchObject({ status: "succeeded", attempts: 3 });
  expect(await insist(api, "POST", `/v1/jobs/${dead}/retry`)).toMatchObject({ status: "queued" });

  const said = (one: SpawnedProcess) => one.logs.filter(({ event }) => event === "prepared_statements_off").length;
  expect(Math.max(...processes.map(said))).toBe(1);
  for (const one of processes) {
    one.kill("SIGTERM");
    expect(await one.waitForExit()).toEqual({ code: 0, signal: null });
  }
});

const limited = (api: Api, queue: string) => insist(api, "PUT", `/v1/queues/${queue}/limits`, { concurrency: 2 });
const create = async (api: Api, job: object, key: string) =>
  ((await insist(api, "POST", "/v1/jobs", job, key)) as { id: string }).id;

/** As a client does: what meets the moment in which the process switches over is a 503, and is sent again. */
async function insist(api: Api, method: string, path: string, body: object = {}, key = path): Promise<object> {
  const headers = { "content-type": "application/json", "idempotency-key": key };
  for (;;) {
    const answer = await fetch(`${api.url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (answer.ok) return (await answer.json()) as object;
    expect([path, answer.status, await answer.text()]).toEqual([path, 503, expect.anything()]);
  }
}
