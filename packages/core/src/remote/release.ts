import { ahead } from "../database/pool/on-behalf-of.ts";
import type { Deps } from "../deps.ts";
import { findLeased } from "../lease/find-leased.ts";
import { release } from "../lease/release.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { settleKnown, type Held, type RemoteOutcome } from "./settle.ts";

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
  items: readonly Held[],
): Promise<RemoteOutcome[]> {
  if (items.length === 0) return [];
  const own = { ...deps, database: ahead(deps.database) };
  const leased = await findLeased(
    own,
    tenant,
    items.map(({ id }) => id),
  );
  return settleKnown(items, leased, async (known) => {
    const released = await release(
      own,
      known.map(({ lease }) => lease),
    );
    await announce(own, released.given, "front");
    const given = new Set<unknown>(released.given);
    const locked = new Set<unknown>(released.locked);
    return known.map(({ lease }) => (given.has(lease) ? "queued" : locked.has(lease) ? "locked" : "lease_lost"));
  });
}
