import { eventually, recordEvents, steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { connectDatabase, type Database } from "../database/connect.ts";
import { uuidArray } from "../database/literals.ts";
import { replayAll } from "../dead-letters/bulk.ts";
import { createReplay } from "../operations/create.ts";
import { stepOperation } from "../operations/step.ts";
import type { Deps } from "../deps.ts";
import { bulkJobs } from "./bulk.ts";
import { editAndRetry } from "./edit-and-retry.ts";
import { findJob } from "./find.ts";
import { retry } from "./retry.ts";

// Somebody keeps a row of what belongs to one of the jobs that are to start anew.

let own: TestDatabase;
let database: Database;
let deps: Deps;
beforeAll(async () => {
  own = await testDatabase();
  // What waits for the stranger fails the test by this deadline.
  database = connectDatabase({ url: own.url, connectionsMax: 12, timeoutMs: 20_000 });
  deps = { database, observe: recordEvents().observe };
});
afterAll(async () => {
  await database.close();
  await own.drop();
});
beforeEach(async () => {
  await own.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_state, atlasqueue.flows, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox, atlasqueue.operations, atlasqueue.job_groups`;
});

const followUps = { cancelled: async () => {}, retried: async () => {}, noLongerDead: async () => {} };
const status = async (id: string) => (await findJob(deps, "default", id))?.status;
const replay = async (ids: readonly string[], patch?: { patched: true }) => {
  const made = await createReplay(
    deps,
    { tenant: "default", filter: { ids: [...ids] }, patch },
    { kind: "anybody", token_id: null, name: null },
  );
  if (!made) throw new Error("too many replays");
  await stepOperation(deps, async () => {});
  // What is left over is of no interest here.
  await own.database.sql`TRUNCATE atlasqueue.operations`;
};

/** Ways to start many jobs anew. */
const ways: Record<string, (ids: readonly string[]) => Promise<unknown>> = {
  "a bulk retry": (ids) => bulkJobs({ ...deps, followUps }, "default", "retry", { ids }, { dry_run: false }),
  "a replay in one call": (ids) => replayAll({ ...deps, followUps }, { tenant: "default", ids }, { dry_run: false }),
  "a replay in the background": (ids) => replay(ids),
  "a replay with a patch": (ids) => replay(ids, { patched: true }),
};
const theirs = {
  "why it was cancelled": { table: "flow_jobs", which: "job_id = $1", of: Object.keys(ways) },
  "a failed edge": {
    table: "flow_edges",
    which: "child = $1",
    of: Object.keys(ways).filter((way) => way !== "a bulk retry"),
  },
  "a wait": { table: "job_state", which: "job_id = $1 AND kind = 'wait'", of: Object.keys(ways) },
  "a step": { table: "job_state", which: "job_id = $1 AND kind = 'step'", of: ["a replay with a patch"] },
  "a signal": { table: "job_state", which: "job_id = $1 AND kind = 'signal'", of: ["a replay with a patch"] },
};

/** Two dead jobs with steps, signals and waits, one of them a child whose parent failed, and the parent. */
async function deadJobs() {
  const { sql } = own.database;
  const { parent, child, other } = await addFlow(deps, { parent: {}, child: { after: ["parent"] }, other: {} });
  const both = uuidArray([child, other]);
  await sql`
    UPDATE atlasqueue.jobs SET status = 'dead', dead_at = now(), finished_at = now(), group_seq = NULL, ready_at = NULL,
                    has_steps = true WHERE id = ANY(${uuidArray([parent, child, other])}::uuid[])`;
  await sql`UPDATE atlasqueue.flow_edges SET failed = true`;
  await sql`UPDATE atlasqueue.flow_jobs SET cancelled_by = ${parent} WHERE job_id = ${child}`;
  await sql`
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt, until)
    SELECT 'default', id, kind, 's', '1', now(), 1, now()
    FROM unnest(${both}::uuid[]) AS id, unnest(ARRAY['step', 'signal', 'wait']) AS kind`;
  return { child, other };
}

describe.each(Object.entries(theirs))("while a stranger holds a job's row: %s", (_what, { table, which, of }) => {
  test.each(of)("%s starts the others anew, and that one later", async (way) => {
    const start = ways[way] as (typeof ways)[string];
    const { child, other } = await deadJobs();
    await own.database.sql.begin(async (stranger) => {
      await stranger.unsafe(`SELECT FROM atlasqueue.${table} WHERE ${which} FOR UPDATE`, [child]);
      const began = performance.now();
      await start([child, other]);
      expect(performance.now() - began).toBeLessThan(15_000);
      expect(await Promise.all([child, other].map(status))).toEqual(["dead", "queued"]);
    });
    expect(
      await own.database.sql`SELECT FROM atlasqueue.job_state WHERE job_id = ${child} AND kind = 'wait'`,
    ).toHaveLength(1);
    await start([child]);
    expect(await status(child)).not.toBe("dead");
    expect(await own.database.sql`SELECT FROM atlasqueue.job_state WHERE kind = 'wait'`).toEqual([]);
  });
});

test.each<[string, (on: Deps, id: string) => Promise<{ kind: string }>]>([
  ["a retry", (on, id) => retry(on, "default", id)],
  ["an edit", (on, id) => editAndRetry(on, "default", id, { payload: { edited: true } }, 1_000)],
])("%s of the job itself is done once its row is free, and holds up no group until then", async (_name, act) => {
  const { sql } = own.database;
  const { other } = await deadJobs();
  await sql`UPDATE atlasqueue.jobs SET group_key = 'g' WHERE id = ${other}`;
  await sql`
    INSERT INTO atlasqueue.job_groups (tenant, queue, group_key, last_seq, admitted, heads) VALUES ('default', 'default', 'g', 1, 0, '{}')`;
  let looks = 0;
  const watched = steppingDatabase(database, (_step, _number, text) => {
    if (text?.includes("job_state_taken")) looks += 1;
  });
  const { acted } = await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_state WHERE job_id = ${other} AND kind = 'wait' FOR UPDATE`;
    const started = act({ ...deps, database: watched }, other);
    await eventually(() => expect(looks).toBeGreaterThan(2));
    await eventually(() => sql`SELECT FROM atlasqueue.job_groups FOR UPDATE NOWAIT`);
    expect(await status(other)).toBe("dead");
    return { acted: started };
  });
  expect((await acted).kind).toBe("retried");
  expect(await sql`SELECT FROM atlasqueue.job_state WHERE job_id = ${other} AND kind = 'wait'`).toEqual([]);
});
