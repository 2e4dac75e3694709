import type postgres from "postgres";
import { bounded } from "../bounded.ts";
import type { Database } from "../connect.ts";
import { DatabaseTimeoutError, isAnswer } from "../errors.ts";
import type { Place } from "./lanes.ts";
import { inTurn } from "./on-behalf-of.ts";

const no_room = Symbol("no room");

/**
 * Send something when it is its tenant's turn and there is room in the lane of its kind. While it waits for that room it
 * takes up no turn. `began_at`, by `performance.now()`, is when it began to wait. `work` leaves the place when the server
 * is done with what it sent, which may be after it resolves.
 */
export async function inLane<T>(
  database: Database,
  kind: string,
  work: (began_at: number, place: Place) => Promise<T>,
): Promise<T> {
  const { sender, lanes, timeout_ms } = database;
  const lane = sender ? `${sender.tenant} ${kind}` : kind;
  const answer = await inTurn(database, async (began_at) => {
    // Its tenant's share of the pool bounds it already.
    const place = lanes.tryEnter(lane, { shared: sender !== undefined });
    return place ? work(began_at, place) : no_room;
  });
  if (answer !== no_room) return answer as T;
  const place = await lanes.enter(lane, timeout_ms);
  let begun = false;
  try {
    return await inTurn(database, (began_at) => {
      begun = true;
      return work(began_at, place);
    });
  } finally {
    if (!begun) place.leave();
  }
}

/** A query in its lane, with the database's deadline (see `bounded`). */
export function inOwnLane<T extends readonly postgres.MaybeRow[]>(
  database: Database,
  kind: string,
  send: () => postgres.PendingQuery<T>,
): Promise<postgres.RowList<T>> {
  return inLane(database, kind, async (began_at, place) => {
    const query = send();
    const answer = bounded(database, query, database.timeout_ms, began_at);
    query.then(place.leave, place.leave);
    try {
      const rows = await answer;
      place.answered();
      return rows;
    } catch (error) {
      const never_sent = error instanceof DatabaseTimeoutError && error.outcome === "not_applied";
      if (!never_sent) reportTo(place, database, error);
      throw error;
    }
  });
}

/** What the failure of a statement that was sent says of others of its kind. */
export function reportTo(place: Place, { pulse, timeout_ms }: Database, error: unknown): void {
  if (isAnswer(error)) place.answered();
  // Of a server that answers nobody it says nothing.
  else if (error instanceof DatabaseTimeoutError && performance.now() - pulse.answered_at < timeout_ms) place.heldUp();
}
