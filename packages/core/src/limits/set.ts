import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import type { QueueLimits } from "@atlasqueue/contract";
import { idleTxTimeout, sentTogether } from "../database/transaction.ts";
import type { Deps, QueueRef } from "../deps.ts";

/**
 * What changed for waiting jobs: `groups_widened` when more jobs of a group may run at once, see `widenGroups`;
 * `marked` when the queue has limits or turns now, and so a mark in Redis.
 */
export type LimitsSet = { groups_widened: boolean; marked: boolean };

/**
 * Set all limits of a queue; those left out are removed. They hold from the next claim on; what is running goes on. As
 * quick for a queue with a million groups as for any other, unless a group rate gets a shorter period or is removed: then
 * it reads the starts of all of them.
 *
 * @example
 * const { groups_widened } = await setLimits(deps, { tenant: "default", queue: "mail" }, { ...unlimited, concurrency: 7 });
 */
export async function setLimits(deps: Deps, { tenant, queue }: QueueRef, limits: QueueLimits): Promise<LimitsSet> {
  const { concurrency, group_concurrency, rate, group_rate, fair_by } = limits;
  const numbers = [concurrency, rate?.limit, rate?.period_seconds, group_rate?.limit, group_rate?.period_seconds];
  const values = [...numbers, group_concurrency, fair_by].map((value) => String(value ?? ""));
  const [, rows] = await sentTogether(deps.database, [
    { text: lock, params: [tenant, queue] },
    { text, params: [tenant, queue, ...values] },
  ]);
  const [row] = rows as { groups_widened: boolean }[];
  deps.observe({ event: "queue_limited", tenant, queue });
  return {
    groups_widened: row?.groups_widened ?? false,
    marked: [concurrency, rate, group_rate, fair_by].some((limit) => limit !== null),
  };
}

const integer = (place: number) => `nullif($${place}, '')::int`;
const by = "nullif($9, '')::text";
const seconds = (place: number) => `nullif($${place}, '')::float8`;

// A statement of its own: the next one sees what claims that had the lock before have started.
const lock = composed(
  "limits/lock",
  ["tenant", "queue"],
  `SELECT FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 AND ${lockTimeout} AND ${idleTxTimeout} FOR UPDATE`,
);

/**
 * Starts are kept at the end of a hundredth of the period: of a longer one, that may be minutes ahead, far outside the
 * window of a shorter one, which they would enter, and fill, long after they happened. They count from now on instead.
 */
const notAhead = (name: string, group: string, rate: "rate" | "group_rate", place: number) => `
  ${name} AS (
    UPDATE atlasqueue.queue_starts SET started_at = statement_timestamp() FROM before
    WHERE tenant = $1 AND queue = $2 AND group_key ${group} AND coalesce(${seconds(place)}, 0) < ${rate}_period_seconds
      AND started_at > statement_timestamp() + make_interval(secs => coalesce(${seconds(place)}, 0) / 100)
      AND started_at < statement_timestamp() + make_interval(secs => ${rate}_period_seconds)
  )`;

// The row is locked before it is read: of two concurrent changes, the later one compares with what the first left.
const text = composed(
  "limits/set",
  [
    "tenant",
    "queue",
    "concurrency",
    "rate_limit",
    "rate_period_seconds",
    "group_rate_limit",
    "group_rate_period_seconds",
    "group_concurrency",
    "fair_by",
  ],
  `
  WITH before AS MATERIALIZED (
    SELECT group_concurrency, rate_period_seconds, group_rate_period_seconds
    FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 FOR UPDATE
  ),${notAhead("of_queue", "IS NULL", "rate", 5)},${notAhead("of_groups", "IS NOT NULL", "group_rate", 7)}, decided AS (
    INSERT INTO atlasqueue.queues (tenant, queue, concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds,
                        group_concurrency, fair_by)
    VALUES ($1, $2, ${integer(3)}, ${integer(4)}, ${seconds(5)}, ${integer(6)}, ${seconds(7)}, ${integer(8)}, ${by})
    ON CONFLICT (tenant, queue) DO UPDATE SET
      concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_seconds = excluded.rate_period_seconds,
      group_rate_limit = excluded.group_rate_limit, group_rate_period_seconds = excluded.group_rate_period_seconds,
      group_concurrency = excluded.group_concurrency, fair_by = excluded.fair_by
  ), widened AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, payload) SELECT 'groups_widened', $1, jsonb_build_object('queue', $2::text)
    WHERE coalesce(${integer(8)}, 1) > coalesce((SELECT group_concurrency FROM before), 1)
    RETURNING id
  )
  SELECT EXISTS (SELECT FROM widened) AS groups_widened`,
);
