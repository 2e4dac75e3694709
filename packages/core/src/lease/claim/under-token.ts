import { randomUUID } from "node:crypto";
import { outcomeUnknown } from "../../database/errors.ts";
import type { Claimer } from "../lease.ts";
import { isTokenTaken, LeaseTokenTakenError } from "../token-taken.ts";

/**
 * Send a claim under the claimer's own token, or a fresh one: where its outcome is unknown, the claimer takes back by
 * that token what it may have leased. Rejects with `LeaseTokenTakenError` when the claimer's own was used before: `findLeasedBefore` says for which jobs.
 *
 * @example
 * const leases = await underToken(claimer, (lease_token) => send(text, [lease_token, worker_id]));
 */
export async function underToken<T>(claimer: Claimer, send: (lease_token: string) => Promise<T>): Promise<T> {
  const lease_token = claimer.lease_token ?? randomUUID();
  try {
    return await send(lease_token);
  } catch (error) {
    if (outcomeUnknown(error)) claimer.unanswered?.(lease_token, claimer.tenant);
    throw isTokenTaken(error) && claimer.lease_token !== undefined ? new LeaseTokenTakenError() : error;
  }
}
