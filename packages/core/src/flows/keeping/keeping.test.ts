import { firstId } from "../../ids.ts";
import { eventually, type TestDatabase } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { engineHarness } from "../../../test/engine-harness.ts";
import { advanceAndAdmit } from "../../../test/advance.ts";
import { addFlow } from "../../../test/add-flow.ts";
import { rowsRead } from "../../../test/rows-read.ts";
import { purge } from "../../dead-letters/bulk.ts";
import type { Deps } from "../../deps.ts";
import { cancel } from "../../jobs/cancel.ts";
import { deleteFinished } from "../../jobs/delete.ts";
import { findJob } from "../../jobs/find.ts";
import { clearResults } from "../../maintenance/clear-results.ts";
import { prune } from "../../maintenance/prune.ts";
import { complete } from "../../settle/settle.ts";
import { findFlow } from "../list-flows.ts";
import { retry } from "../../jobs/retry.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const { deps, take, die, status } = engineHarness();

const succeed = async (id: string) => complete(deps, [{ lease: await take(id), result: 1 }]);
const advance = () => advanceAndAdmit(deps);

/** Everything that removes jobs, for jobs that ended just now. */
const removals: Record<string, (id: string, using?: Deps) => Promise<unknown>> = {
  "a person": (id, using = deps) => deleteFinished(using, "default", [id]),
  retention: async (_id, using = deps) => {
    // It looks only at ids of the past.
    await deps.database.sql`SELECT pg_sleep(0.01)`;
    await prune(using, { succeededHours: 0, deadHours: 0 }, firstId, 100);
  },
  "a purge": (id, using = deps) =>
    purge(using, { kind: "ids", tenant: "default", ids: [id], rest: [], until_us: Number.MAX_SAFE_INTEGER }),
};

/** A removal waits for an advisory lock after its snapshot, before it locks rows. */
function lookingThenWaiting(sql: TestDatabase["database"]["sql"]): Deps {
  const unsafe: typeof sql.unsafe = (text, params, options) =>
    sql.unsafe(
      text.replace(
        "FOR UPDATE SKIP LOCKED",
        `AND (SELECT count(pg_advisory_xact_lock(77)) = 1 FROM (SELECT set_config('lock_timeout', '0', true) OFFSET 0) AS patient)
         FOR UPDATE SKIP LOCKED`,
      ),
      params,
      options,
    );
  return { ...deps, database: { ...deps.database, sql: { unsafe } as typeof sql } };
}

test.each(Object.keys(removals))("%s leaves a job that others wait for, until they do not any more", async (by) => {
  const remove = removals[by] as (typeof removals)[string];
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"], on_parent_failure: "wait" } });
  await die(a);
  await remove(a);
  await advance();
  await remove(a);
  expect(await status(a)).toBe("dead");
  await cancel(deps, "default", b);
  await deleteFinished(deps, "default", [b]);
  await remove(a);
  expect(await status(a)).toBeUndefined();
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_edges`).toEqual([]);
});

test.each(Object.keys(removals))("%s leaves a job that others came to wait for since its look", async (by) => {
  const remove = removals[by] as (typeof removals)[string];
  const { a } = await addFlow(deps, { a: {} });
  await die(a);
  const { sql } = deps.database;
  await sql
    .begin(async (stop) => {
      await stop`SELECT pg_advisory_xact_lock(77)`;
      const removing = remove(a, lookingThenWaiting(sql));
      const waiting = () =>
        sql`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE NOT granted AND datname = current_database()`;
      await eventually(async () => expect(await waiting()).toHaveLength(1));
      await sql.begin(async (tx) => {
        await tx`UPDATE atlasqueue.jobs SET has_children = true WHERE id = ${a}`;
        await tx`INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure) VALUES ('default', ${a}, gen_random_uuid(), 'wait')`;
      });
      return { removing };
    })
    .then(({ removing }) => removing);
  expect(await status(a)).toBe("dead");
});

test("a child that was cancelled for a removed parent does not come back with another", async () => {
  const { a, b, c } = await addFlow(deps, { a: {}, b: {}, c: { after: ["a", "b"] } });
  await die(a);
  await die(b);
  await advance();
  expect((await deleteFinished(deps, "default", [a])).ids).toEqual([a]);
  await retry(deps, "default", b);
  await succeed(b);
  await advance();
  expect(await status(c)).toBe("cancelled");
});

test("results stay until the last job of the flow is over", async () => {
  const { a, b, c } = await addFlow(deps, { a: {}, b: { after: ["a"] }, c: { after: ["b"] } });
  const alone = await addFlow(deps, { alone: {} });
  const clear = async () => (await clearResults(deps, 0, firstId, lastId, 100)).jobs;
  await succeed(a);
  await succeed(alone.alone);
  await deps.database.sql`UPDATE atlasqueue.jobs SET flow_id = NULL WHERE id = ${alone.alone}`;
  expect(await clear()).toBe(1);
  await advance();
  await succeed(b);
  await advance();
  expect(await clear()).toBe(0);
  await succeed(c);
  expect(await clear()).toBe(3);
});

test("a result stays until the children in another flow have heard of it", async () => {
  const { a } = await addFlow(deps, { a: {} });
  await succeed(a);
  await addFlow(deps, { b: { after: [a] } });
  const clear = async () => (await clearResults(deps, 0, firstId, lastId, 100)).jobs;
  expect(await clear()).toBe(0);
  await advance();
  expect(await clear()).toBe(1);
});

const theirs = {
  "an attempt": { table: "job_attempts", column: "job_id" },
  "a place in a flow": { table: "flow_jobs", column: "job_id" },
  "an edge": { table: "flow_edges", column: "child" },
  "a step": { table: "job_state", column: "job_id" },
};
describe("while another transaction holds a row of one job", () => {
  test.each(Object.entries(theirs))("%s: retention removes it later than others", async (_what, { table, column }) => {
    const remove = removals["retention"] as (typeof removals)[string];
    const { sql } = deps.database;
    const { a, b, other } = await addFlow(deps, { a: {}, b: { after: ["a"] }, other: {} });
    for (const id of [a, other]) await die(id);
    // Dead as well, and with its edge, as one whose parent was removed has it.
    await sql`UPDATE atlasqueue.jobs SET status = 'dead', dead_at = now(), finished_at = now(), group_seq = NULL, has_steps = true WHERE id = ${b}`;
    await sql`UPDATE atlasqueue.flow_edges SET failed = true`;
    await sql`INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, outcome, finished_at) VALUES ('default', ${b}, 1, 'failed', now())`;
    await sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt) VALUES ('default', ${b}, 'step', 's', '1', now(), 1)`;
    await sql.begin(async (stranger) => {
      await stranger`SELECT FROM ${stranger(`atlasqueue.${table}`)} WHERE ${stranger(column)} = ${b} FOR UPDATE`;
      await expect(removals["a person"]?.(b)).rejects.toThrow("lock timeout");
      await remove(b);
      expect(await Promise.all([b, other].map(status))).toEqual(["dead", undefined]);
    });
    for (const id of [b, a]) await remove(id);
    expect(await Promise.all([a, b, other].map(status))).toEqual([undefined, undefined, undefined]);
    for (const one of Object.values(theirs))
      expect(await sql`SELECT FROM ${sql(`atlasqueue.${one.table}`)}`).toEqual([]);
  });
});

test("a flow goes with the last of its jobs", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  const flow_id = (await findJob(deps, "default", b))?.flow_id ?? "";
  await cancel(deps, "default", a);
  await advance();
  await deleteFinished(deps, "default", [a]);
  expect(await findFlow(deps, "default", flow_id)).toMatchObject({ jobs: 1 });
  await deleteFinished(deps, "default", [b]);
  expect(await findFlow(deps, "default", flow_id)).toBeUndefined();
  expect(await deps.database.sql`SELECT FROM atlasqueue.flow_jobs UNION ALL SELECT FROM atlasqueue.flow_edges`).toEqual(
    [],
  );
});

const long: Record<string, "waits" | "runs" | undefined> = {
  "of which the last job waits": "waits",
  "of which the last job runs": "runs",
  "that is over": undefined,
};
describe.each(["known", "unknown"])("of a long flow, its size %s,", (size) => {
  test.each(Object.entries(long))("few jobs are read to tell whether it is over: one %s", async (_one, last_job) => {
    const { sql } = deps.database;
    const { first, last } = await addFlow(deps, { first: {}, last: {} });
    await succeed(first);
    if (last_job === undefined) await succeed(last);
    if (last_job === "runs") await take(last);
    const members = 3_000;
    await sql`
      INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload, result, flow_id)
      SELECT ('0190' || lpad(to_hex(n), 28, '0'))::uuid, 'noop', 'succeeded', now(), now(), now(), now() - interval '1 day', '{}', '1', flow_id
      FROM atlasqueue.jobs, generate_series(1, ${members}::int) AS n WHERE jobs.id = ${first}`;
    await sql`
      INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, on_parent_failure, parents)
      SELECT tenant, id, flow_id, 10 + row_number() OVER (), 'cancel', '[]' FROM atlasqueue.jobs WHERE id NOT IN (${first}, ${last})`;
    await sql`UPDATE atlasqueue.flow_jobs SET place = 10_000 WHERE job_id = ${last}`;
    if (size === "known") await sql`ANALYZE atlasqueue.jobs, atlasqueue.flow_jobs`;
    const clear = (on: Pick<Deps, "database">) => clearResults({ ...deps, ...on }, 0, firstId, lastId, 10);
    const remove = (on: Pick<Deps, "database">) =>
      prune({ ...deps, ...on }, { succeededHours: 0, deadHours: 0 }, firstId, 10);
    for (const step of [remove, clear]) expect(await rowsRead(deps.database, step)).toBeLessThan(300);
    const some = last_job ? 0 : 10;
    expect(await remove(deps)).toMatchObject({ jobs: some });
    expect(await clear(deps)).toMatchObject({ jobs: some });
  });
});
