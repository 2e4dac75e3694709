import { lockedError } from "../database/errors.ts";
import { withPriority } from "../database/pool/fair-share.ts";
import type { Deps } from "../deps.ts";
import { revokeClaim } from "../lease/revoke-claim.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";

/**
 * Give back all that a remote worker holds under a token, with no attempt spent, and resolve with how many jobs went
 * back. From then on the token leases nothing, so a lease that is still on its way finds it refused. Rejects with a
 * KeysContendedError, after the other jobs went back, if another transaction has one of them locked: repeat it.
 *
 * @example
 * await releaseLease(deps, "default", lease_token); // 2
 */
export async function releaseLease(
  deps: Deps & { signal: Signal },
  tenant: string,
  lease_token: string,
): Promise<number> {
  const own = { ...deps, database: withPriority(deps.database) };
  const { given, locked } = await revokeClaim(own, tenant, lease_token);
  // What a lost answer left unsignalled is the sweep's.
  await announce(own, given, "front");
  if (locked.length > 0) throw lockedError(given.length > 0);
  return given.length;
}
