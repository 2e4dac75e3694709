import { submission } from "@atlasqueue/harness";
import { chance } from "@atlasqueue/harness/servers";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { completeAll, engineHarness } from "../../test/engine-harness.ts";
import { foldAll, foldCounts } from "./fold.ts";
import { queueStats } from "../queues/stats.ts";
import { claimReady } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { fail } from "../settle/settle.ts";
import { enqueue } from "../submit/enqueue.ts";
import { forget } from "../maintenance/forget.ts";
import { release } from "../lease/release.ts";

const { deps } = engineHarness();
const queues = ["default", "mail", "Mail.2"];
const tenants = ["default", "acme"];

type Counts = Record<JobStatus, number>;
const none = (): Counts => Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Counts;

const counted = async (tenant: string) =>
  Object.fromEntries((await queueStats(deps, tenant)).map(({ queue, counts }) => [queue, counts]));
const truth = async (tenant: string) => {
  const found: Record<string, Counts> = {};
  const rows = await deps.database.sql<{ queue: string; status: JobStatus; count: number }[]>`
    SELECT queue, status, count(*)::int AS count FROM atlasqueue.jobs WHERE tenant = ${tenant} GROUP BY queue, status`;
  for (const { queue, status, count } of rows) (found[queue] ??= none())[status] = count;
  return found;
};
const countsAreTrue = async () => {
  for (const tenant of tenants) expect(await counted(tenant)).toEqual(await truth(tenant));
};

/** Moves of some jobs at a time, across several tenants and queues. */
function moves(pick: (below: number) => number) {
  let held: Lease[] = [];
  const some = <T>(items: T[]) => items.filter(() => pick(2) === 0);
  const letGo = (leases: Lease[]) => void (held = held.filter((lease) => !leases.includes(lease)));
  const claimer = () => {
    const tenant = tenants[pick(2)] ?? "";
    return { tenant, queues: queues.slice(0, 1 + pick(3)), worker_id: "w", lease_seconds: 30 };
  };
  const requests = () =>
    Array.from({ length: 1 + pick(8) }, () => {
      const delay = pick(4) === 0 ? { delay_seconds: 3_600 } : {};
      const request = { queue: queues[pick(3)] ?? "", max_attempts: 1 + pick(3), priority: pick(3) - 1, ...delay };
      const keyed = pick(2) === 0 ? [`key-${pick(40)}`] : [];
      return { ...submission(request, ...keyed), tenant: tenants[pick(2)] ?? "" };
    });
  return [
    async () => void (await enqueue(deps, requests(), { idempotency_ttl_seconds: 60 })),
    async () => void held.push(...(await claimReady(deps, 1 + pick(9), claimer()))),
    async () => {
      const done = some(held);
      if (done.length > 0) await completeAll(deps, done);
      // Some are kept, and settled once more: that must not count.
      letGo(some(done));
    },
    async () => {
      const failed = some(held);
      const verdicts = [
        { kind: "retry", delay_ms: 0 },
        { kind: "dead", reason: "attempts_exhausted" },
      ] as const;
      if (failed.length > 0)
        await fail(
          deps,
          failed.map((lease) => ({ lease, error: "Error", verdict: verdicts[pick(2)] ?? verdicts[0] })),
        );
      letGo(some(failed));
    },
    async () => letGo((await release(deps, some(held))).given),
  ];
}

test("concurrent folds, with writers and readers in between, count each change once", async () => {
  let writing = true;
  const folder = async () => {
    while (writing) await foldCounts(deps, 7);
  };
  const forgetter = async () => {
    while (writing) await forget(deps, "others", 5);
  };
  const write = async (seed: number) => {
    const random = chance(seed);
    const pick = (below: number) => Math.floor(random() * below);
    const mine = moves(pick);
    for (let step = 0; step < 100; step += 1) await mine[pick(mine.length)]?.();
  };
  // In one snapshot the number of jobs is that of all changes so far, however far the folds have got.
  const read = async () => {
    while (writing) {
      const [row] = await deps.database.sql`
        SELECT (SELECT count(*)::int FROM atlasqueue.jobs WHERE status = 'queued') AS jobs,
               (SELECT coalesce(sum(queued), 0)::int FROM atlasqueue.queue_counts) + (SELECT coalesce(sum(queued), 0)::int FROM atlasqueue.queue_changes) AS counted`;
      expect(row?.["counted"]).toBe(row?.["jobs"]);
    }
  };
  const others = [folder(), folder(), folder(), folder(), forgetter(), read()];
  try {
    await Promise.all([write(1), write(2), write(3)]);
  } finally {
    writing = false;
    await Promise.all(others);
  }
  await countsAreTrue();
  await foldAll(deps);
  await countsAreTrue();
});
