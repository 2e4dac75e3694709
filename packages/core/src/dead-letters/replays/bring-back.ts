import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

/** The longest rest of a replay that is not due to its rate, and room for one page that was late. */
const rest_seconds_max = 60;

/**
 * Have replays go on now whose next page is later than their rate asks for: the database's clock was set back, and they
 * would rest until it is where it was. Returns how many there were; fewer than `rows_max` means that those were all but
 * the ones locked by others.
 *
 * @example
 * await bringReplaysBack(deps, 500);
 */
export async function bringReplaysBack(deps: Pick<Deps, "database">, rows_max: number): Promise<number> {
  const rows = await executeOn(deps.database)({ text, params: [rows_max, rest_seconds_max] });
  return rows.length;
}

const text = composed(
  "dead-letters/bring-replays-back",
  ["rows_max", "rest_seconds_max"],
  `
  WITH late AS MATERIALIZED (
    SELECT id FROM dead_letter_replays
    WHERE state = 'running' AND next_at > now() + make_interval(secs => $2::float8 + coalesce(2 / rate, 0))
    LIMIT $1::int FOR UPDATE SKIP LOCKED
  )
  UPDATE dead_letter_replays SET next_at = now() FROM late WHERE dead_letter_replays.id = late.id
  RETURNING dead_letter_replays.id`,
);
