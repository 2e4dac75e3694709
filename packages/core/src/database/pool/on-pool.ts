import type postgres from "postgres";
import { bounded } from "../bounded.ts";
import type { Database } from "../connect.ts";
import { DatabaseTimeoutError, isAnswer } from "../errors.ts";
import type { Place } from "./lanes.ts";

/**
 * Run a query on the pool with the database's deadline (see `bounded`), in the lane of its kind: when those of the kind
 * take up as many connections as they may, it waits for one of them. Its place is free again when the server is done
 * with it, which a late one may not be for long.
 *
 * @example
 * const rows = await onPool(database, text, () => database.sql.unsafe(text, params));
 */
export async function onPool<T extends readonly postgres.MaybeRow[]>(
  database: Database,
  kind: string,
  send: () => postgres.PendingQuery<T>,
): Promise<postgres.RowList<T>> {
  const began_at = performance.now();
  const place = database.lanes.tryEnter(kind) ?? (await database.lanes.enter(kind, database.timeout_ms));
  const query = send();
  try {
    const answer = bounded(database, query, database.timeout_ms, began_at);
    query.then(place.leave, place.leave);
    const rows = await answer;
    place.answered();
    return rows;
  } catch (error) {
    const never_sent = error instanceof DatabaseTimeoutError && error.outcome === "not_applied";
    if (!never_sent) reportTo(place, database, error);
    throw error;
  }
}

/** What the failure of a statement that was sent says of others of its kind. */
export function reportTo(place: Place, { pulse, timeout_ms }: Database, error: unknown): void {
  if (isAnswer(error)) place.answered();
  // Of a server that answers nobody it says nothing.
  else if (error instanceof DatabaseTimeoutError && performance.now() - pulse.answered_at < timeout_ms) place.heldUp();
}
