import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepTables } from "../../test/kept-tables.ts";
import { stopAt, stopsOf, type Move, type Pairs } from "../../test/pairs.ts";
import { admitAll } from "./arrivals/admitter.ts";
import { executeIn } from "../database/caller-transaction.ts";
import type { Deps } from "../deps.ts";
import { submitInside } from "./arrivals/submit-inside.ts";
import { advanceGroups } from "../groups/advance.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim, claimReady } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { complete } from "../settle/complete.ts";
import { enqueueAll } from "./enqueue-all.ts";
import { enqueue } from "./enqueue.ts";
import { fail } from "../settle/fail.ts";
import { promoteDue } from "../maintenance/promote-due.ts";
import { pruneUniqueKeys } from "../maintenance/prune.ts";
import { retry } from "../jobs/retry.ts";

/** What must hold afterwards, whatever the two moves were, is in `invariants`. */
let own: TestDatabase;
let plain: Deps;
let pairs: Pairs<Scene>;
beforeAll(async () => {
  own = await testDatabase();
  plain = { database: own.database, observe: recordEvents().observe };
  const first = await makeScene();
  const putBack = await keepTables(own.database.sql);
  pairs = {
    database: own.database,
    scene: async () => {
      await putBack();
      return first;
    },
    // What they do while they hold locks is in ../../test/stopped-moves.ts.
    stopsAt: (step) => step === "statement",
    holdsAfter: invariants,
  };
});
afterAll(() => own.drop());

const options = { idempotency_ttl_seconds: 60 };
/** Nothing follows a move here except what the test does: count changes are not folded either. */
const followUps = { admitted: async () => {} };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
const dead = { kind: "dead", reason: "not_retryable" } as const;
const wish = (on_conflict: "return" | "reject" | "replace", key?: string) =>
  submission({ group: "g", unique: { key: "u", on_conflict }, payload: { on_conflict } }, key);

/**
 * What every pair starts with: one job running, one behind it with the unique key, one dead, one cancelled, one
 * arrived.
 */
type Scene = { deps: Deps; running: Lease; held: string; stopped: string };
async function makeScene(): Promise<Scene> {
  const add = async (...wishes: ReturnType<typeof submission>[]) =>
    (await enqueue(plain, wishes, options)).map((one) => ("job" in one ? one.job.id : ""));
  const [gone = ""] = await add(submission({ group: "g" }));
  const [lost] = await claim(plain, [gone], claimer);
  await fail(plain, [{ lease: lost as Lease, error: "E: x", verdict: dead }]);
  await advanceGroups(plain, 10);
  const [first = "", held = ""] = await add(submission({ group: "g" }), wish("return"));
  const [running] = await claim(plain, [first], claimer);
  await own.database.sql.begin(async (tx) => {
    await submitInside(executeIn(tx), wish("replace", "arrived"), options);
    await submitInside(executeIn(tx), submission({ group: "g" }, "key"), options);
  });
  return { deps: plain, running: running as Lease, held, stopped: gone };
}

const moves: Readonly<Record<string, Move<Scene>>> = {
  "submit with a key": (_scene, deps) => enqueue(deps, [submission({ group: "g" }, "key")], options),
  "submit unique, return": (_scene, deps) => enqueue(deps, [wish("return", "key-2")], options),
  "submit unique, replace": (_scene, deps) => enqueue(deps, [wish("replace")], options),
  "submit a batch": (_scene, deps) =>
    enqueueAll(deps, [submission({ group: "g" }, "key"), wish("replace", "key-2")], options),
  admit: (_scene, deps) => admitAll({ ...deps, followUps }),
  "hand over": (_scene, deps) => advanceGroups(deps, 10),
  settle: ({ running }, deps) => complete(deps, [{ lease: running, result: null }]),
  "settle and hand over": async ({ running }, deps) => {
    await complete(deps, [{ lease: running, result: null }]);
    await advanceGroups(deps, 10);
  },
  "cancel a waiting job": ({ held }, deps) => cancel(deps, "default", held),
  "cancel a running job": ({ running }, deps) => cancel(deps, "default", running.id),
  retry: ({ stopped }, deps) => retry(deps, "default", stopped),
  "prune keys": async (_scene, deps) => {
    await own.database.sql`UPDATE unique_keys SET check_at = now()`;
    await pruneUniqueKeys(deps, 10);
  },
};

/** Work until nothing is left, one at a time in the group, and check everything that must hold. */
async function invariants(): Promise<void> {
  const { sql } = own.database;
  const order: string[] = [];
  for (let rest = 0; rest < 3; rest += 1) {
    await admitAll({ ...plain, followUps });
    await advanceGroups(plain, 100);
    await promoteDue(plain, 100);
    const running = await sql<Lease[]>`SELECT * FROM jobs WHERE status = 'running'`;
    expect(running.length).toBeLessThanOrEqual(1);
    const leases = running.length > 0 ? running : await claimReady(plain, 100, claimer);
    expect(leases.length).toBeLessThanOrEqual(1);
    for (const lease of leases) {
      order.push(lease.id);
      expect(await complete(plain, [{ lease, result: null }])).toEqual([{ kind: "applied" }]);
      rest = 0;
    }
  }
  expect(new Set(order).size).toBe(order.length);
  const left = await sql`SELECT id, status FROM jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled')`;
  expect(left).toEqual([]);
  expect(await sql`SELECT * FROM job_groups`).toEqual([]);
  expect(await sql`SELECT * FROM arrivals`).toEqual([]);
  expect(await sql`SELECT * FROM group_handovers`).toEqual([]);
  const counted = await sql`
    SELECT coalesce(sum(blocked), 0)::int AS blocked, coalesce(sum(queued), 0)::int AS queued,
           coalesce(sum(running), 0)::int AS running, coalesce(sum(succeeded), 0)::int AS succeeded,
           coalesce(sum(cancelled), 0)::int AS cancelled, coalesce(sum(dead), 0)::int AS dead FROM queue_changes`;
  const real = await sql`
    SELECT 0 AS blocked, 0 AS queued, 0 AS running, count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
           count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled, count(*) FILTER (WHERE status = 'dead')::int AS dead
    FROM jobs`;
  expect(counted).toEqual(real);
  // Of the jobs that came with one key, at most one ran, and the key names it.
  const keyed = await sql`SELECT key, jobs.id FROM idempotency_keys LEFT JOIN jobs ON jobs.id = job_id`;
  for (const one of keyed) expect(one["id"], `the key ${one["key"]}`).not.toBeNull();
}

describe.each(Object.entries(moves))("%s, stopped before each of its statements", (name, stopped) => {
  let stops: readonly number[];
  beforeAll(async () => {
    stops = await stopsOf(pairs, stopped);
  });

  test.each(Object.entries(moves).filter(([other]) => other !== name))(
    "while another does: %s",
    async (_other, beside) => {
      for (const at of stops) await stopAt(pairs, { stopped, at, beside, may_wait: false });
    },
  );
});
