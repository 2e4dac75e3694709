import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLimited } from "../limits/room.ts";

/** A queue that is not paused and has ready jobs: since when the oldest of them is ready. */
export type WaitingQueue = { queue: string; running: number; limited: boolean; since: Date };
export type Summary = {
  at: Date;
  counts: Record<JobStatus, number>;
  queues: number;
  paused_queues: number;
  /** A count is below zero, which only wrong counts are. */
  below_zero: boolean;
  /** The longest-waiting first. */
  waiting: readonly WaitingQueue[];
};

/**
 * Of a tenant's queues with ready jobs, those with the longest backlogs are looked into each time, so many of the others in
 * turns by name, and what waited longest before.
 */
const looked_into_max = 300;
/** Those that are returned, the longest-waiting. */
const waiting_max = 200;

/** Where the turns of an earlier answer ended, and what waited longest then. */
export type Looked = { behind: string; waiting: readonly string[] };

/**
 * What a tenant has, from the kept counts, and where its jobs wait. With at most 300 queues that have ready jobs, all of
 * them are looked into; with more, as many answers together as there are 300s, each given the last one's `looked`.
 *
 * @example
 * const { counts, looked } = await summaryOf(deps, "default");
 * const { waiting } = await summaryOf(deps, "default", looked);
 */
export async function summaryOf(
  deps: Pick<Deps, "database">,
  tenant: string,
  before: Looked = { behind: "", waiting: [] },
): Promise<Summary & { looked: Looked }> {
  const params = [tenant, looked_into_max, waiting_max, before.behind, textArray(before.waiting)];
  const [row] = await executeOn(deps.database)<Row>({ text: summary, params });
  if (!row) throw new Error("a summary gave no row");
  const { at, queues, paused_queues, below_zero, waiting, behind, ...sums } = row;
  const counts = Object.fromEntries(jobStatuses.map((status) => [status, Math.max(0, sums[status])]));
  return {
    looked: { behind: behind ?? "", waiting: (waiting ?? []).map(({ queue }) => queue) },
    at,
    queues,
    paused_queues,
    below_zero: below_zero ?? false,
    counts: counts as Summary["counts"],
    waiting: (waiting ?? []).map((one) => ({ ...one, since: new Date(one.since) })),
  };
}

type Row = Omit<Summary, "counts" | "waiting" | "below_zero"> &
  Summary["counts"] & {
    below_zero: boolean | null;
    behind: string | null;
    waiting: (Omit<WaitingQueue, "since"> & { since: string })[] | null;
  };

const columns = jobStatuses.join(", ");

// A queue with changes, of which there are those of a second, has them added to its total; the others' totals are taken as
// they are: grouping all of them cost three times as much. In each queue one step from priority to priority, as the index has the oldest of each in front; materialized, or each
// step would be taken twice: for the condition and for the answer.
const summary = composed(
  "overview/summary",
  ["tenant", "looked_into_max", "waiting_max", "behind", "waited"],
  `
  WITH changed AS MATERIALIZED (
    SELECT queue, ${jobStatuses.map((status) => `sum(${status}) AS ${status}`).join(", ")}
    FROM atlasqueue.queue_changes WHERE tenant = $1 GROUP BY queue
  ), held AS MATERIALIZED (
    SELECT queue, ${columns} FROM atlasqueue.queue_counts WHERE tenant = $1 AND queue NOT IN (SELECT queue FROM changed)
    UNION ALL
    SELECT changed.queue, ${jobStatuses.map((status) => `changed.${status} + coalesce(total.${status}, 0)`).join(", ")}
    FROM changed LEFT JOIN atlasqueue.queue_counts AS total ON total.tenant = $1 AND total.queue = changed.queue
  ), ready AS MATERIALIZED (
    SELECT held.queue, held.queued, held.running::float8 AS running, coalesce(${isLimited}, false) AS limited
    FROM held LEFT JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = held.queue
    WHERE held.queued > 0 AND paused_at IS NULL
  ), in_turn AS MATERIALIZED (
    SELECT * FROM ready WHERE queue > $4::text ORDER BY queue LIMIT $2::int
  ), backlogs AS MATERIALIZED (
    (SELECT * FROM ready ORDER BY queued DESC LIMIT $2::int)
    UNION SELECT * FROM in_turn
    UNION SELECT * FROM ready WHERE queue = ANY($5::text[])
  ), waiting AS MATERIALIZED (
    SELECT queue, running, limited, (
      WITH RECURSIVE fronts AS (
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE tenant = $1 AND jobs.queue = backlogs.queue AND ready_at IS NOT NULL
         ORDER BY priority DESC, ready_at LIMIT 1)
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL (
          SELECT priority, ready_at FROM atlasqueue.jobs
          WHERE tenant = $1 AND jobs.queue = backlogs.queue AND ready_at IS NOT NULL AND priority < fronts.priority
          ORDER BY priority DESC, ready_at LIMIT 1) AS next
      ) SELECT min(ready_at) FROM fronts) AS since
    FROM backlogs
  )
  SELECT now() AS at, ${jobStatuses.map((status) => `coalesce(sum(${status}), 0)::float8 AS ${status}`).join(", ")},
         (count(*) FILTER (WHERE ${jobStatuses.map((status) => `${status} <> 0`).join(" OR ")}))::int AS queues,
         (SELECT count(*)::int FROM atlasqueue.queues WHERE tenant = $1 AND paused_at IS NOT NULL) AS paused_queues,
         bool_or(least(${jobStatuses.join(", ")}) < 0) AS below_zero,
         (SELECT max(queue) FROM in_turn HAVING count(*) = $2::int) AS behind,
         (SELECT json_agg(oldest) FROM (
           SELECT * FROM waiting WHERE since IS NOT NULL ORDER BY since LIMIT $3::int) AS oldest) AS waiting
  FROM held`,
);
