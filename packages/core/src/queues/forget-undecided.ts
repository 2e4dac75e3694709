import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * Forget, at most so many, the rows of queues about which nothing is decided any more: they were paused and resumed, or
 * their limits taken away. Such a row says what none says, and would count as a queue for ever. One that somebody
 * is changing is passed over.
 */
export async function forgetUndecidedQueues(deps: Pick<Deps, "database">, queues_max: number): Promise<void> {
  await executeOn(deps.database)({ text: forget, params: [queues_max] });
}

const undecided =
  "coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text) IS NULL";
const forget = composed(
  "queues/forget-undecided",
  ["queues_max"],
  `
  DELETE FROM queues WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM queues WHERE ${undecided} LIMIT $1::int FOR UPDATE SKIP LOCKED)) AND ${undecided}`,
);
