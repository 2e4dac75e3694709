import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

/** How long a replay that is over can be looked up. */
const kept_days = 30;

/** Forget a bounded number of replays that were over long ago. Returns how many. */
export async function forgetReplays(deps: Pick<Deps, "database">, replays_max: number): Promise<number> {
  return (await executeOn(deps.database)({ text, params: [replays_max] })).length;
}

const text = composed(
  "dead-letters/forget-replays",
  ["replays_max"],
  `
  DELETE FROM dead_letter_replays WHERE id = ANY(ARRAY(
    SELECT id FROM dead_letter_replays WHERE finished_at < now() - interval '${kept_days} days' LIMIT $1::int
    FOR UPDATE SKIP LOCKED))
  RETURNING 1`,
);
