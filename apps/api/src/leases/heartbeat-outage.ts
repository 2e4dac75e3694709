import { outage_hold_ms } from "@atlasqueue/contract";
import { DatabaseTimeoutError, type Logger } from "@atlasqueue/core";
import { createOutageWatch, isOutage } from "@atlasqueue/core/internal";
import { unavailable } from "../http/answers/problem.ts";
import type { Services } from "../route/deps.ts";

/**
 * What the failed heartbeats of this process say about the database. A holder that is told it is away goes on past the
 * end of its lease, for `outage_hold_ms` from the answer; so the fleet is told to end no leases for as long after the last
 * such answer. Returns what to answer.
 *
 * @example
 * const asHeartbeat = createHeartbeatOutage(deps);
 * return problemOf(deps, asHeartbeat(error), c);
 */
export function createHeartbeatOutage(deps: Services & { logger: Logger }): (error: Error) => Error {
  // Of heartbeats in line behind one that met the outage, the next is sent when that one's deadline is over.
  const told_ms = deps.database.timeout_ms + 500;
  // Not the sweeper's own: what callers meet holds that one up for a minute at most, as everybody else.
  const outage = createOutageWatch(deps, { lasts_ms: told_ms + outage_hold_ms });
  let told_at = -Infinity;
  return (error) => {
    const now = performance.now();
    // It waited for its turn behind one that has met the outage and told the fleet.
    if (isBusy(error) && now - told_at < told_ms) return unavailable("The database did not answer");
    if (!isOutage(error)) return error;
    told_at = now;
    // The answer waits for nobody.
    void outage.failed();
    return error;
  };
}

/** All connections were taken. */
const isBusy = (error: Error): boolean => error instanceof DatabaseTimeoutError && error.is_busy;
