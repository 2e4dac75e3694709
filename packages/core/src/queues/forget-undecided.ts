import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * Forget a bounded number of queues' rows that hold no decision any more: the queue was paused and resumed, or its
 * limits removed. Such a row says no more than none would, and would count as a queue forever. One being changed is
 * skipped. Returns how many.
 */
export async function forgetUndecidedQueues(deps: Pick<Deps, "database">, queues_max: number): Promise<number> {
  return (await executeOn(deps.database)({ text: forget, params: [queues_max] })).length;
}

const undecided =
  "coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by) IS NULL";
const forget = composed(
  "queues/forget-undecided",
  ["queues_max"],
  `
  DELETE FROM atlasqueue.queues WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM atlasqueue.queues WHERE ${undecided} LIMIT $1::int FOR UPDATE SKIP LOCKED)) AND ${undecided}
  RETURNING 1`,
);
