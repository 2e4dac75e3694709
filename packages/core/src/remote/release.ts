import { withPriority } from "../database/pool/fair-share.ts";
import type { Deps } from "../deps.ts";
import { findLeased } from "../lease/find-leased.ts";
import { release, revokeClaim } from "../lease/release.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { settleKnown, type Held, type RemoteOutcome } from "./settle.ts";
import { lockedError } from "../database/errors.ts";

/** `later`: its worker has no handler for its type, so it is to be offered again later (`release`). */
type Release = Held & { later?: boolean | undefined };

/**
 * Give back what remote workers hold and will not finish: each job is ready again, in its old place, and no attempt is
 * spent. Outcomes are in the order given. Repeated, it is a lost lease: the job is nobody's then, or somebody else's.
 *
 * @example
 * await releaseRemote(deps, "default", [{ id, lease_token }]); // ["queued"]
 */
export async function releaseRemote(
  deps: Deps & { signal: Signal },
  tenant: string,
  items: readonly Release[],
): Promise<RemoteOutcome[]> {
  if (items.length === 0) return [];
  const own = { ...deps, database: withPriority(deps.database) };
  const leased = await findLeased(
    own,
    tenant,
    items.map(({ id }) => id),
  );
  return settleKnown(items, leased, async (known) => {
    const outcomes = new Map<unknown, RemoteOutcome | "locked">();
    for (const later of [false, true]) {
      const some = known.filter(({ item }) => (item.later ?? false) === later).map(({ lease }) => lease);
      const released = await release(own, some, { later });
      if (!later) await announce(own, released.given, "front");
      for (const lease of released.given) outcomes.set(lease, later ? "scheduled" : "queued");
      for (const lease of released.locked) outcomes.set(lease, "locked");
    }
    return known.map(({ lease }) => outcomes.get(lease) ?? "lease_lost");
  });
}

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
