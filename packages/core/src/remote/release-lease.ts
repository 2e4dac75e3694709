import type { Deps } from "../deps.ts";
import type { LeaseReturns } from "../lease/returns.ts";
import { takeBack } from "../lease/take-back.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";

/** A request waits for jobs for half a minute at most, and a claim for its own deadline. */
const refused_seconds = 300;

/**
 * Give back all that a remote worker holds under a token, with no attempt spent, and resolve with how many jobs went
 * back. From then on the token leases nothing, so a lease that is still on its way finds it refused. Jobs whose rows
 * somebody has locked follow, as soon as that ends.
 *
 * @example
 * await releaseLease({ ...deps, returns }, "default", lease_token); // 2
 */
export async function releaseLease(
  deps: Deps & { signal: Signal; returns: Pick<LeaseReturns, "unanswered"> },
  tenant: string,
  lease_token: string,
): Promise<number> {
  const { ready, given, locked } = await takeBack(deps, lease_token, { tenant, refused_seconds });
  if (locked > 0) deps.returns.unanswered(lease_token, tenant);
  await announce(deps, ready, "front");
  return given;
}
