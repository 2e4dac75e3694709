import { firstId } from "../ids.ts";
import { submission } from "@atlasqueue/harness";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { completeAll, engineHarness } from "../../test/engine-harness.ts";
import { foldAll, foldCounts } from "./fold.ts";
import { deadByNow } from "../dead-letters/count.ts";
import { queueStats } from "../queues/stats.ts";
import { claim, claimReady } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { fail } from "../settle/settle.ts";
import { enqueue } from "../submit/enqueue.ts";
import { forget } from "../maintenance/forget.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { prune } from "../maintenance/prune.ts";
import { purge } from "../dead-letters/bulk.ts";
import { recoverExpired } from "../lease/recover.ts";
import { release } from "../lease/release.ts";
import { replay } from "../dead-letters/replay.ts";

const { deps } = engineHarness();
const options = { idempotency_ttl_seconds: 60 };
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

/** Numbers that look random but are the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Every move there is, for some jobs at a time, across several tenants and queues. */
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
    async () => void (await enqueue(deps, requests(), options)),
    async () => void (await enqueue(deps, requests(), options)),
    async () => void held.push(...(await claimReady(deps, 1 + pick(9), claimer()))),
    async () => {
      const ids = await deps.database.sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs ORDER BY id LIMIT 20`;
      held.push(
        ...(await claim(
          deps,
          ids.map(({ id }) => id),
          claimer(),
        )),
      );
    },
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
    async () => {
      await deps.database.sql`UPDATE atlasqueue.jobs SET due_at = now(), run_at = now() WHERE due_at IS NOT NULL`;
      await promoteDue(deps, 1 + pick(9));
    },
    async () => {
      await deps.database
        .sql`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running' AND get_byte(uuid_send(id), 15) < 128`;
      await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
      await recoverExpired(deps, 1 + pick(5));
    },
    async () => void (await prune(deps, { succeededHours: -1, deadHours: -1 }, firstId, 5)),
    async () => {
      const page = await deadByNow(deps, { tenant: tenants[pick(2)] ?? "", queue: queues[pick(3)] });
      if (page) await replay(deps, page);
    },
    async () => {
      const page = await deadByNow(deps, { tenant: tenants[pick(2)] ?? "", type: "noop" });
      if (page && pick(3) === 0) await purge(deps, page);
    },
    async () => void (await foldCounts(deps, 1 + pick(20))),
    async () => forget(deps, "others", 10),
  ];
}

test("whatever happens to jobs, in any order, the counts match the table", { tags: ["slow"] }, async () => {
  const pick = chance(20_261_120);
  const all = moves(pick);
  const seen = new Set<string>();
  for (let step = 0; step < 400; step += 1) {
    await all[pick(all.length)]?.();
    await countsAreTrue();
    for (const row of await deps.database.sql<{ status: string }[]>`SELECT DISTINCT status FROM atlasqueue.jobs`)
      seen.add(row.status);
  }
  expect(seen.size).toBeGreaterThan(5);
  await foldAll(deps);
  expect(await deps.database.sql`SELECT FROM atlasqueue.queue_changes`).toHaveLength(0);
  await countsAreTrue();
});

test("concurrent folds, with writers and readers in between, count each change once", async () => {
  let writing = true;
  const folder = async () => {
    while (writing) await foldCounts(deps, 7);
  };
  const forgetter = async () => {
    while (writing) await forget(deps, "others", 5);
  };
  const write = async (seed: number) => {
    const pick = chance(seed);
    // Without recovery and pruning, which would take the others' jobs.
    const [submit, , claimSome, , settle, failSome, giveBack] = moves(pick);
    const mine = [submit, claimSome, settle, failSome, giveBack];
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

test("a caller's transaction that rolls back counts nothing", async () => {
  await deps.database.sql
    .begin(async (tx) => {
      await tx`INSERT INTO atlasqueue.queue_changes (tenant, queue, queued) VALUES ('default', 'default', 5)`;
      throw new Error("no");
    })
    .catch(() => {});
  expect(await queueStats(deps, "default")).toEqual([]);
});
