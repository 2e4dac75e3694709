import { jobStatuses } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Rows that are kept no longer: their tables, each with a condition and an order with an index. */
const over = {
  /** They can be used again from then on. */
  keys: [["idempotency_keys", "expires_at <= now()", "expires_at"]],
  others: [
    // An operation can be looked up for a month after its end.
    ["operations", "finished_at < now() - interval '30 days'", "finished_at"],
    // Totals of queues without jobs: names come and go, and a table of all there ever were would only grow.
    ["queue_counts", `(${jobStatuses.join(", ")}) = (${jobStatuses.map(() => "0").join(", ")})`, "tenant, queue"],
    // A queue that was paused and resumed, or lost its limits and defaults: its row says no more than none would, and counts as a queue.
    [
      "queues",
      "coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by, defaults::text) IS NULL",
      "tenant, queue",
    ],
  ],
} as const;

type Forgotten = keyof typeof over;

// Rows that someone has locked are skipped. The condition is repeated, as a row may have changed since it was found.
const goneFrom = ([table, condition, order]: readonly [string, string, string]) => `
  ${table}_gone AS (
    DELETE FROM atlasqueue.${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.${table} WHERE ${condition} ORDER BY ${order} LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND ${condition}
    RETURNING 1)`;
const textOf = (what: Forgotten): string =>
  composed(
    `maintenance/forget-${what}`,
    ["rows_max"],
    `
  WITH ${over[what].map(goneFrom).join(", ")}
  SELECT (${over[what].map(([table]) => `(SELECT count(*) FROM ${table}_gone)`).join(" + ")})::int AS gone`,
  );
const texts: Record<Forgotten, string> = {
  keys: textOf("keys"),
  others: textOf("others"),
};

/**
 * Remove up to `rows_max` rows of each table, of all tenants, that are kept no longer. Returns how many.
 *
 * @example
 * while ((await forget(deps, "keys", 500)) >= 500);
 */
export async function forget(deps: Pick<Deps, "database">, what: Forgotten, rows_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ gone: number }>({ text: texts[what], params: [rows_max] });
  return row?.gone ?? 0;
}
