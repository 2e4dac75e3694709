import { withPriority } from "../database/pool/fair-share.ts";
import type { Deps } from "../deps.ts";
import { findLeased } from "../lease/find-leased.ts";
import { release } from "../lease/release.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { settleKnown, type Held, type RemoteOutcome } from "./settle.ts";

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
