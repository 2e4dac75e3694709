import { DatabaseTimeoutError, type Database } from "@atlasqueue/core";
import { isOutage } from "@atlasqueue/core/internal/http";
import { unavailable } from "../http/answers/problem.ts";

/**
 * What to answer to a failed heartbeat. A holder that is told that the database is away goes on past the end of its
 * lease, for `outage_hold_ms` from the answer. So a heartbeat that waited in line behind one that met an outage is told
 * the same, and not that there was no room.
 *
 * @example
 * const asHeartbeat = createHeartbeatOutage(deps);
 * return problemOf(deps, asHeartbeat(error), c);
 */
export function createHeartbeatOutage({ database }: { database: Database }): (error: Error) => Error {
  // Of heartbeats in line behind one that met the outage, the next is sent when that one's deadline is over.
  const told_ms = database.timeout_ms + 500;
  let met_at = -Infinity;
  return (error) => {
    const now = performance.now();
    // Not if anything was answered since: then a connection was cut, no more.
    const lasts = now - met_at < told_ms && database.pulse.answered_at < met_at;
    if (isBusy(error) && lasts) return unavailable("The database did not answer");
    if (isOutage(error)) met_at = now;
    return error;
  };
}

/** All connections were taken. */
const isBusy = (error: Error): boolean => error instanceof DatabaseTimeoutError && error.is_busy;
