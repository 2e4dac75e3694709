import { brokenConnection, steppingDatabase, submission } from "@atlasqueue/harness";
import { chance } from "@atlasqueue/harness/servers";
import { queueLimits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { engineHarness, main as queue } from "../../test/engine-harness.ts";
import { countDrift } from "../counts/job-checks.ts";
import type { Deps } from "../deps.ts";
import { cancel } from "../jobs/cancel.ts";
import { claimReady } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { recoverExpired } from "../lease/recover.ts";
import { release, revokeClaim } from "../lease/release.ts";
import { setLimits } from "../limits/set.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { completeAndLeaseNext } from "../settle/complete-and-lease-next.ts";
import { fail } from "../settle/settle.ts";
import { enqueue } from "../submit/enqueue.ts";
import { advanceOverdue } from "./overdue.ts";

/** To run more by hand: `GROUP_SEEDS=50 pnpm test packages/core/src/groups/runs.test.ts`. */
const seeds = Number(process.env["GROUP_SEEDS"] ?? 4);
const groups = ["a", "b", "c", "d"];
const jobs_per_group = 60;
const workers = 3;

const { deps } = engineHarness();

/** What happened, as handlers would have seen it. */
function story(random: () => number) {
  const submitted = new Map<string, string[]>(groups.map((group) => [group, []]));
  const started = new Map<string, string[]>(groups.map((group) => [group, []]));
  const running = new Map<string, string>();
  const attempts = new Map<string, number>();
  const cancelled = new Set<string>();
  /** Jobs whose worker died, perhaps with a lease that no handler saw. */
  const orphaned = new Set<string>();
  let runs_on = 0;

  const begin = ({ id, group_key }: Lease): void => {
    const group = group_key ?? "";
    expect(running.get(group), `${id} starts beside another of its group`).toBeUndefined();
    running.set(group, id);
    started.get(group)?.push(id);
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
  };
  const end = ({ id, group_key }: Pick<Lease, "id" | "group_key">): void => {
    if (running.get(group_key ?? "") === id) running.delete(group_key ?? "");
  };
  /** What the sweep does for a worker that is gone, without waiting for its leases. */
  const die = async (condition: { lease_token: string } | { worker_id: string }): Promise<void> => {
    const { sql } = deps.database;
    const rows = await ("lease_token" in condition
      ? sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms' WHERE status = 'running' AND lease_token = ${condition.lease_token} RETURNING id`
      : sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms' WHERE status = 'running' AND worker_id = ${condition.worker_id} RETURNING id`);
    for (const { id } of rows) orphaned.add(String(id));
    await sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms'`;
  };

  /** Settle some at once and go on with their groups, whose answer may be lost: then its worker lives on, or dies. */
  const settle = async (leases: Lease[]): Promise<Lease[]> => {
    for (const lease of leases) end(lease);
    const luck = random();
    const worker_id = `w${Math.floor(random() * 1e9)}`;
    const lost: string[] = [];
    const step = luck < 0.05 ? "answer" : luck < 0.1 ? "statement" : undefined;
    const database =
      step === undefined
        ? deps.database
        : steppingDatabase(deps.database, (at) => {
            if (at === step) throw brokenConnection();
          });
    const send = (within: Deps) =>
      completeAndLeaseNext(
        within,
        leases.map((lease) => ({ lease, result: null })),
        {
          worker_id,
          lease_seconds: 60,
          unanswered: (token) => void lost.push(token),
          after: leases.filter(() => random() < 0.95).map(({ id }) => id),
        },
      );
    try {
      const { next } = await send({ ...deps, database });
      runs_on += next.size;
      return [...next.values()];
    } catch {
      if (random() < 0.5) {
        await die({ worker_id });
        for (const { lease_token } of leases) await die({ lease_token });
        return [];
      }
      // Repeated at once, while what the first try may have taken goes back.
      const [again] = await Promise.all([send(deps), ...lost.map((token) => revokeClaim(deps, "default", token))]);
      return [...again.next.values()];
    }
  };

  /** One step of each job of a run; returns those leased next. */
  const work = async (leases: Lease[]): Promise<Lease[]> => {
    for (const lease of leases) begin(lease);
    await new Promise((resolve) => setImmediate(resolve));
    const succeeding: Lease[] = [];
    for (const lease of leases) {
      const luck = random();
      if (luck < 0.85) {
        succeeding.push(lease);
        continue;
      }
      end(lease);
      if (luck < 0.9)
        await fail(deps, [{ lease, error: "E: x", verdict: { kind: "retry", delay_ms: Math.round(random() * 5) } }]);
      else if (luck < 0.93)
        await fail(deps, [{ lease, error: "E: x", verdict: { kind: "dead", reason: "not_retryable" } }]);
      else if (luck < 0.97) {
        const { given } = await release(deps, [lease]);
        if (given.length > 0) attempts.set(lease.id, (attempts.get(lease.id) ?? 0) - 1);
      } else {
        orphaned.add(lease.id);
        await deps.database.sql`
          UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms' WHERE id = ${lease.id} AND lease_token = ${lease.lease_token}`;
        // Several at once, so none waits for rows that another holds.
        await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms'
          WHERE token IN (SELECT token FROM atlasqueue.claims FOR UPDATE SKIP LOCKED)`;
      }
    }
    return succeeding.length > 0 ? settle(succeeding) : [];
  };

  return {
    submitted,
    started,
    attempts,
    cancelled,
    orphaned,
    runsOn: () => runs_on,
    async produce(group: string): Promise<void> {
      for (let left = jobs_per_group; left > 0;) {
        const count = Math.min(left, 1 + Math.floor(random() * 5));
        const request = () =>
          submission({ group, max_attempts: 25, ...(random() < 0.05 ? { delay_seconds: 0.01 } : {}) });
        const outcomes = await enqueue(deps, Array.from({ length: count }, request), { idempotency_ttl_seconds: 60 });
        for (const outcome of outcomes) if ("job" in outcome) submitted.get(group)?.push(outcome.job.id);
        left -= count;
      }
    },
    async worker(at: number, over: () => boolean): Promise<void> {
      const claimer = { tenant: "default", queues: ["default"], worker_id: `claims${at}`, lease_seconds: 60 };
      while (!over()) {
        let leases = await claimReady(deps, 1 + Math.floor(random() * groups.length), claimer);
        if (leases.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        while (leases.length > 0) leases = await work(leases);
      }
    },
    /** Persons and the sweep. */
    async meddle(over: () => boolean): Promise<void> {
      const { sql } = deps.database;
      while (!over()) {
        await promoteDue(deps, 50);
        await recoverExpired(deps, 50);
        await advanceOverdue(deps, 100);
        const luck = random();
        if (luck < 0.1) {
          const group = groups[Math.floor(random() * groups.length)] ?? "";
          const ids = submitted.get(group) ?? [];
          const id = ids[Math.floor(random() * ids.length)] ?? "";
          end({ id, group_key: group });
          if (id !== "" && (await cancel(deps, "default", id)).kind === "cancelled") cancelled.add(id);
        } else if (luck < 0.2) await setLimits(deps, queue, queueLimits.parse(luck < 0.15 ? { concurrency: 2 } : {}));
        // Looked at for nothing.
        else if (luck < 0.3) await sql`UPDATE atlasqueue.job_groups SET overdue_at = now()`;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
}

test.each(Array.from({ length: seeds }, (_, at) => at + 1))(
  "runs of groups keep the order, one at a time, whatever fails, dies, is lost, cancelled or limited (seed %i)",
  async (seed) => {
    const told = story(chance(seed));
    let over = false;
    const isOver = () => over;
    const meddling = told.meddle(isOver);
    const working = Promise.all(Array.from({ length: workers }, (_, at) => told.worker(at, isOver)));
    working.catch(() => {});
    try {
      await Promise.race([working, Promise.all(groups.map((group) => told.produce(group)))]);
      const left = async () =>
        (
          await deps.database
            .sql`SELECT count(*)::int AS n FROM atlasqueue.jobs WHERE status NOT IN ('succeeded', 'dead', 'cancelled')`
        )[0]?.["n"];
      while ((await left()) !== 0) await Promise.race([working, new Promise((resolve) => setTimeout(resolve, 20))]);
    } finally {
      over = true;
      await meddling;
    }
    await working;

    expect(told.runsOn(), "jobs that were leased by the settlement of the one before").toBeGreaterThan(20);
    for (const group of groups) {
      const submitted = told.submitted.get(group) ?? [];
      const order = (told.started.get(group) ?? []).filter((id, at, all) => id !== all[at - 1]);
      expect(order, "in their order, each job's attempts together").toEqual(
        submitted.filter((id) => order.includes(id)),
      );
      const missed = submitted.filter((id) => !order.includes(id) && !told.cancelled.has(id));
      expect(missed.filter((id) => !told.orphaned.has(id))).toEqual([]);
    }
    const jobs = await deps.database.sql<{ id: string; attempts: number }[]>`SELECT id, attempts FROM atlasqueue.jobs`;
    for (const { id, attempts } of jobs)
      if (!told.orphaned.has(id) && !told.cancelled.has(id))
        expect([id, attempts]).toEqual([id, told.attempts.get(id)]);
    expect((await countDrift(deps, 1_000)).drifted).toEqual([]);
    await advanceOverdue(deps, 100);
    expect(await deps.database.sql`SELECT FROM atlasqueue.job_groups`).toEqual([]);
  },
  60_000,
);
