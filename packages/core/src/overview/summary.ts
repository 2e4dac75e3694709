import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLimited } from "../limits/capacity.ts";
import { readySince } from "../queues/all-tenants.ts";

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

/** Of a tenant's queues with ready jobs, those with the longest backlogs that are looked into. */
const looked_into_max = 300;

/**
 * What a tenant has, from the kept counts, and where its jobs wait: in up to 300 of its queues, those with the most
 * ready jobs.
 *
 * @example
 * const { counts, waiting } = await summaryOf(deps, "default");
 */
export async function summaryOf(deps: Pick<Deps, "database">, tenant: string): Promise<Summary> {
  const [row] = await executeOn(deps.database)<Row>({ text: summary, params: [tenant, looked_into_max] });
  if (!row) throw new Error("a summary gave no row");
  const { at, queues, paused_queues, below_zero, waiting, ...sums } = row;
  const counts = Object.fromEntries(jobStatuses.map((status) => [status, Math.max(0, sums[status])]));
  return {
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
    waiting: (Omit<WaitingQueue, "since"> & { since: string })[] | null;
  };

const columns = jobStatuses.join(", ");

// A queue with changes, of which there are those of a second, has them added to its total; the others' totals are taken as
// they are: grouping all of them cost three times as much. `waiting` is materialized, or each queue would be looked into
// twice: for the condition and for the answer.
const summary = composed(
  "overview/summary",
  ["tenant", "looked_into_max"],
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
  ), backlogs AS MATERIALIZED (
    SELECT * FROM ready ORDER BY queued DESC LIMIT $2::int
  ), waiting AS MATERIALIZED (
    SELECT queue, running, limited, ${readySince("$1", "backlogs.queue")} AS since FROM backlogs
  )
  SELECT now() AS at, ${jobStatuses.map((status) => `coalesce(sum(${status}), 0)::float8 AS ${status}`).join(", ")},
         (count(*) FILTER (WHERE ${jobStatuses.map((status) => `${status} <> 0`).join(" OR ")}))::int AS queues,
         (SELECT count(*)::int FROM atlasqueue.queues WHERE tenant = $1 AND paused_at IS NOT NULL) AS paused_queues,
         bool_or(least(${jobStatuses.join(", ")}) < 0) AS below_zero,
         (SELECT json_agg(waiting ORDER BY since) FROM waiting WHERE since IS NOT NULL) AS waiting
  FROM held`,
);
