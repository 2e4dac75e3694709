import { admitAll, closeEdges, releaseChildren } from "../advance.ts";
import { expect } from "vitest";
import { countDrift } from "../../src/counts/job-checks.ts";
import { advanceOverdue } from "../../src/groups/overdue.ts";
import { claimReady } from "../../src/lease/claim.ts";
import type { Lease } from "../../src/lease/lease.ts";
import { recoverExpired } from "../../src/lease/recover.ts";
import { promoteDue } from "../../src/maintenance/promote.ts";
import { sendSignal } from "../../src/steps/signal.ts";
import { complete } from "../../src/settle/settle.ts";
import { limit, type World } from "./world.ts";

/** What must hold at every moment others can see. */
export async function holdsNow(world: World): Promise<void> {
  const { tenant, group, deps } = world;
  const { sql } = deps.database;
  const [now] = await sql<{ running: number; through: number }[]>`
    SELECT count(*) FILTER (WHERE queue = 'limited' AND status = 'running')::int AS running,
           count(*) FILTER (WHERE group_key = 'g' AND status IN ('scheduled', 'queued', 'running', 'failed'))::int AS through
    FROM atlasqueue.jobs WHERE tenant = ${tenant}`;
  expect(now?.running, "jobs of the limited queue that run").toBeLessThanOrEqual(limit);
  expect(now?.through, "jobs of the group that were let through").toBeLessThanOrEqual(1);
  const early = await sql`
    SELECT child.id FROM atlasqueue.flow_edges JOIN atlasqueue.jobs AS child ON child.id = flow_edges.child
    WHERE child.status NOT IN ('blocked', 'cancelled')`;
  expect(early, "children that may run before their parents ended").toEqual([]);
  const unclaimed = await sql`
    SELECT id FROM atlasqueue.jobs WHERE status = 'running' AND 1 <> (
      SELECT count(*) FROM atlasqueue.claims WHERE token = jobs.lease_token AND jobs.id = ANY(job_ids))`;
  expect(unclaimed, "running jobs that no claim has").toEqual([]);
  const twice = await sql`
    SELECT group_key FROM atlasqueue.jobs WHERE status = 'running' AND group_key IS NOT NULL GROUP BY queue, group_key HAVING count(*) > 1`;
  expect(twice, "groups of which two jobs run").toEqual([]);
  const loose = await sql`SELECT child FROM atlasqueue.flow_edges WHERE child NOT IN (SELECT id FROM atlasqueue.jobs)`;
  expect(loose, "edges of children that are gone").toEqual([]);
  const order = await sql<{ id: string; status: string }[]>`
    SELECT id, status FROM atlasqueue.jobs WHERE tenant = ${tenant} AND id = ANY(${`{${group.join(",")}}`}::uuid[]) ORDER BY id`;
  const anew = startedAnew(world);
  if (order.some(({ id }) => anew.has(id))) return;
  const first_blocked = order.findIndex(({ status }) => status === "blocked");
  const after = first_blocked === -1 ? [] : order.slice(first_blocked);
  expect(
    after.every(({ status }) => status === "blocked" || status === "cancelled"),
    "the order of the group",
  ).toBe(true);
}

/** The jobs that were made new again: their attempts count from there, and they are the last of their groups. */
function startedAnew({ recorded, dead, flow, dead_letters }: World): ReadonlySet<string> {
  const retried = recorded.named("job_retried").flatMap((event) => ("job_id" in event ? [event.job_id] : []));
  return new Set([dead, flow.dead, ...dead_letters, ...retried]);
}

/** What must hold when both moves are done, and when everything has run. */
export async function holdsAfter(world: World): Promise<void> {
  await holdsNow(world);
  const { sql } = world.deps.database;
  const jobs = await sql<{ id: string; status: string; attempts: number }[]>`
    SELECT id, status, attempts FROM atlasqueue.jobs WHERE tenant = ${world.tenant}`;
  const acquired = Map.groupBy(world.recorded.named("lease_acquired"), (event) => "job_id" in event && event.job_id);
  const released = Map.groupBy(world.recorded.named("job_released"), (event) => "job_id" in event && event.job_id);
  const anew = startedAnew(world);
  const parked = Map.groupBy(world.recorded.named("job_parked"), (event) => "job_id" in event && event.job_id);
  for (const { id, attempts } of jobs)
    if (!anew.has(id))
      expect(attempts, "attempts are committed claims").toBe(
        (acquired.get(id)?.length ?? 0) - (released.get(id)?.length ?? 0) - (parked.get(id)?.length ?? 0),
      );
  expect((await countDrift(world.deps, 10_000)).drifted).toEqual([]);
  expect(
    await sql`SELECT id FROM atlasqueue.jobs JOIN atlasqueue.job_state ON job_id = id AND kind = 'signal' AND name = waits_for WHERE status = 'scheduled'`,
    "parked jobs whose signal is there",
  ).toEqual([]);
  expect(await runOut(world), "what never ends").toEqual([]);
  // Of what ran last.
  await closeEdges(world.deps, 100);
  await releaseChildren(world.deps, 100);
  await admitAll(world.deps);
  expect(
    await sql`SELECT kind, key FROM atlasqueue.outbox WHERE kind <> 'submitted'`,
    "rows that are never acted on",
  ).toEqual([]);
  expect((await countDrift(world.deps, 10_000)).drifted).toEqual([]);
  await world.deps.database.sql`UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE overdue_at IS NOT NULL`;
  await advanceOverdue(world.deps, 100);
  expect(await sql`SELECT group_key FROM atlasqueue.job_groups`, "groups without jobs").toEqual([]);
}

/** Run everything that is ready to its end, as workers and the sweep would, and give those that are parked their signal. Returns what is left after many rounds. */
async function runOut(world: World): Promise<readonly { id: string; status: string }[]> {
  const { deps, claimer, leases, taken } = world;
  const done = (held: readonly Lease[]) =>
    complete(
      deps,
      held.map((lease) => ({ lease, result: null })),
    );
  await done([...leases, ...taken]);
  const waiting = await deps.database.sql<{ id: string; waits_for: string }[]>`
    SELECT id, waits_for FROM atlasqueue.jobs WHERE tenant = ${world.tenant} AND waits_for IS NOT NULL`;
  for (const { id, waits_for } of waiting) await sendSignal(deps, world.tenant, id, waits_for, null);
  for (let round = 1; ; round += 1) {
    await recoverExpired(deps, 50);
    // Rows that met a lock are due later.
    await deps.database.sql`UPDATE atlasqueue.outbox SET not_before = '-infinity'`;
    // Released for later.
    await deps.database.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at > now() AND run_at <= now()`;
    await closeEdges(deps, 100);
    await releaseChildren(deps, 100);
    await admitAll(deps);
    await promoteDue(deps, 50);
    await deps.database.sql`UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE overdue_at IS NOT NULL`;
    await advanceOverdue(deps, 100);
    const next = await claimReady(deps, 50, claimer);
    if (next.length > 0) await done(next);
    const left = await deps.database.sql<{ id: string; status: string }[]>`
      SELECT id, status FROM atlasqueue.jobs
      WHERE tenant = ${world.tenant} AND status NOT IN ('succeeded', 'dead', 'cancelled', 'scheduled')
        AND (due_at IS NULL OR due_at <= now())`;
    if (left.length === 0 || round === 20) return left;
  }
}
