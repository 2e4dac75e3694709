import { setTimeout as delay } from "node:timers/promises";
import { afterSome, DatabaseTimeoutError } from "../database/errors.ts";
import { ahead } from "../database/pool/on-behalf-of.ts";
import type { Deps } from "../deps.ts";
import { takeBack } from "../lease/take-back.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { locked_ms_max, locked_retry_ms } from "./settle.ts";

/** A request waits for jobs for half a minute at most, and a claim for its own deadline. */
const refused_seconds = 300;

/**
 * Give back all that a remote worker holds under a token, with no attempt spent, and resolve with how many jobs went
 * back. From then on the token leases nothing, so a lease that is still on its way finds it refused. Rejects with a
 * DatabaseTimeoutError while somebody has a job's row locked: whoever asks has to ask again, as only the worker is sure
 * to be there when that ends.
 *
 * @example
 * await releaseLease(deps, "default", lease_token); // 2
 */
export async function releaseLease(
  deps: Deps & { signal: Signal },
  tenant: string,
  lease_token: string,
): Promise<number> {
  const own = { ...deps, database: ahead(deps.database) };
  const give_up_at = performance.now() + locked_ms_max;
  for (let released = 0; ;) {
    const taken = takeBack(own, lease_token, { tenant, refused_seconds });
    const { given, locked } = await taken.catch(afterSome(released > 0));
    // Only these: it may be sent again and again. What a lost answer left unsignalled is the sweep's.
    await announce(own, given, "front");
    released += given.length;
    if (locked === 0) return released;
    if (performance.now() > give_up_at) throw new DatabaseTimeoutError(locked_ms_max);
    await delay(locked_retry_ms);
  }
}
