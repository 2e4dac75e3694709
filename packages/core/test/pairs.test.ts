import { setTimeout as delay } from "node:timers/promises";
import { steppingDatabase, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isLocked, isUnavailable } from "../src/database/errors.ts";
import type { Deps } from "../src/deps.ts";
import { countDrift } from "../src/counts/drift.ts";
import { advanceGroups } from "../src/groups/advance.ts";
import { cancel } from "../src/jobs/cancel.ts";
import { claim, claimReady } from "../src/lease/claim.ts";
import { complete } from "../src/settle/complete.ts";
import { extendLeases } from "../src/lease/extend.ts";
import { fail } from "../src/settle/fail.ts";
import { recallLeases } from "../src/lease/recall.ts";
import { recoverExpired } from "../src/lease/recover.ts";
import { release } from "../src/lease/release.ts";
import { retry } from "../src/jobs/retry.ts";
import { takeBack } from "../src/lease/take-back.ts";
import { limit, makeWorld, runOut, type World } from "./world.ts";

/** Longer than a batch waits for one row, shorter than a stopped transaction may live. */
const wait_ms_max = 1_200;

type Move = (world: World, deps: Deps) => Promise<unknown>;
const retrying = { kind: "retry", delay_ms: 0 } as const;

/** Moves of many jobs: they must not wait for one that is locked. */
const batches: Record<string, Move> = {
  claim: async ({ claimer, plain, limited, group, taken }, deps) =>
    taken.push(...(await claim(deps, [...plain, ...group, ...limited], claimer))),
  "claim by age": async ({ claimer, taken }, deps) => taken.push(...(await claimReady(deps, 20, claimer))),
  extend: ({ leases }, deps) => extendLeases(deps, leases, 30),
  complete: ({ leases }, deps) =>
    complete(
      deps,
      leases.map((lease) => ({ lease, result: 1 })),
    ),
  fail: ({ leases }, deps) =>
    fail(
      deps,
      leases.map((lease) => ({ lease, error: "x", verdict: retrying })),
    ),
  release: ({ leases }, deps) => release(deps, leases),
  // It gives up on a claim's locked row, and its caller repeats it.
  "take back": async ({ leases }, deps) =>
    takeBack(deps, leases[0]?.lease_token ?? "").catch((error: unknown) => {
      if (!isLocked(error)) throw error;
    }),
  recover: (_world, deps) => recoverExpired(deps, 50),
  recall: ({ tenant, claimer }, deps) =>
    recallLeases(deps, { tenant, id: claimer.worker_id, lease_seconds: 30 }, 0, 50),
  "advance groups": (_world, deps) => advanceGroups(deps, 100),
};

/** Moves of one job: they wait for it, and for nothing else. */
const singles: Record<string, Move> = {
  "cancel a running job": ({ tenant, held }, deps) => cancel(deps, tenant, held),
  "cancel in a group": ({ tenant, group }, deps) => cancel(deps, tenant, String(group[0])),
  "cancel a blocked job": ({ tenant, group }, deps) => cancel(deps, tenant, String(group[1])),
  retry: ({ tenant, dead }, deps) => retry(deps, tenant, dead),
  "enqueue plain": ({ addWith }, deps) => addWith(deps, {}, {}),
  "enqueue grouped": ({ addWith }, deps) => addWith(deps, { group: "g" }, { group: "other" }),
  "enqueue unique": ({ addWith }, deps) => addWith(deps, { unique: { key: "u2", on_conflict: "return" } }),
  // Beside another one stopped while holding the key, the caller is told to come again.
  "enqueue to replace": ({ addWith }, deps) =>
    addWith(deps, { unique: { key: "u", on_conflict: "replace" } }).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
    }),
};

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

/** What must hold at every moment others can see. */
async function holdsNow({ tenant, group }: World): Promise<void> {
  const { sql } = own.database;
  const [now] = await sql<{ running: number; through: number }[]>`
    SELECT count(*) FILTER (WHERE queue = 'limited' AND status = 'running')::int AS running,
           count(*) FILTER (WHERE group_key = 'g' AND status IN ('scheduled', 'queued', 'running', 'failed'))::int AS through
    FROM jobs WHERE tenant = ${tenant}`;
  expect(now?.running, "jobs of the limited queue that run").toBeLessThanOrEqual(limit);
  expect(now?.through, "jobs of the group that were let through").toBeLessThanOrEqual(1);
  const order = await sql<{ id: string; status: string }[]>`
    SELECT id, status FROM jobs WHERE tenant = ${tenant} AND id = ANY(${`{${group.join(",")}}`}::uuid[]) ORDER BY id`;
  const first_blocked = order.findIndex(({ status }) => status === "blocked");
  const after = first_blocked === -1 ? [] : order.slice(first_blocked);
  expect(
    after.every(({ status }) => status === "blocked" || status === "cancelled"),
    "the order of the group",
  ).toBe(true);
}

/** What must hold when both moves are done, and when everything has run. */
async function holdsAfter(world: World): Promise<void> {
  await holdsNow(world);
  const { sql } = own.database;
  const jobs = await sql<{ id: string; status: string; attempts: number }[]>`
    SELECT id, status, attempts FROM jobs WHERE tenant = ${world.tenant}`;
  const acquired = Map.groupBy(world.recorded.named("lease_acquired"), (event) => "job_id" in event && event.job_id);
  const released = Map.groupBy(world.recorded.named("job_released"), (event) => "job_id" in event && event.job_id);
  for (const { id, attempts } of jobs)
    if (id !== world.dead)
      expect(attempts, "attempts are committed claims").toBe(
        (acquired.get(id)?.length ?? 0) - (released.get(id)?.length ?? 0),
      );
  expect((await countDrift(world.deps, 10_000)).drifted).toEqual([]);
  await runOut(world);
  const left = await sql<{ id: string; status: string }[]>`
    SELECT id, status FROM jobs
    WHERE tenant = ${world.tenant} AND status NOT IN ('succeeded', 'dead', 'cancelled', 'scheduled')`;
  expect(left, "what never ends").toEqual([]);
  expect((await countDrift(world.deps, 10_000)).drifted).toEqual([]);
}

/** Stop one move at the step of this number while another runs whole. False when it has no such step. */
async function stopAt(number: number, stopped: Move, other: Move, mayWait: boolean): Promise<boolean> {
  const world = await makeWorld(own.database);
  let reached = false;
  let beside: Promise<unknown> | undefined;
  const database = steppingDatabase(own.database, async (_step, at) => {
    if (at !== number) return;
    reached = true;
    const over = new AbortController();
    beside = other(world, world.deps);
    const waited = delay(wait_ms_max, "waited" as const, { signal: over.signal }).catch(() => "done" as const);
    const first = await Promise.race([beside.then(() => "done" as const), waited]);
    over.abort();
    if (!mayWait) expect(first, "a batch does not wait for locked rows").toBe("done");
    await holdsNow(world);
  });
  await stopped(world, { ...world.deps, database });
  await beside;
  if (reached) await holdsAfter(world);
  return reached;
}

for (const [name, stopped] of Object.entries({ ...batches, ...singles }))
  test(`${name}, stopped at each of its steps while each other move runs whole`, async () => {
    for (const [other_name, other] of Object.entries({ ...batches, ...singles })) {
      // The first step is before anything has happened.
      for (let number = 2; ; number += 1)
        try {
          if (!(await stopAt(number, stopped, other, other_name in singles))) break;
        } catch (error) {
          throw new Error(`${name}, stopped at step ${number}, beside ${other_name}: ${String(error)}`, {
            cause: error,
          });
        }
    }
    await own.database
      .sql`TRUNCATE jobs, lease_batches, job_attempts, job_groups, group_handovers, queues, queue_counts, queue_changes`;
  }, 300_000);
