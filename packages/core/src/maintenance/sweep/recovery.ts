import { isLocked, isUnavailable } from "../../database/errors.ts";
import { putOff } from "../../lease/put-off.ts";
import type { SweepDeps } from "../loop-deps.ts";
import { recoverAll } from "./recover-all.ts";

/** What was sent in vain is sent again four times a second. */
const grace_seconds = 3;
const claims_max = 1_000;

/**
 * `recoverAll`, but not right after a time without writes. Reads may have gone on while a disk was full or a standby
 * away, so nothing else of the sweep has noticed; meanwhile leases have run out that nobody could renew or give back, and
 * an attempt would be spent that no handler saw. So when ending leases has failed, `failed` is told, and they are first put
 * off, which fails too until writes are taken again; it is their holders' turn then.
 *
 * @example
 * const recover = createRecovery(deps, outage.failed);
 * const recovered = await recover();
 */
export function createRecovery(deps: SweepDeps, failed: () => Promise<void>): () => Promise<number> {
  let away = false;
  return async () => {
    try {
      if (!away) return await recoverAll(deps);
      while ((await putOff(deps, grace_seconds, claims_max)) === claims_max);
      away = false;
      return 0;
    } catch (error) {
      // A lock is somebody's, and no outage: the fleet need not wait for it.
      const is_outage = isUnavailable(error) && !isLocked(error);
      away ||= is_outage;
      if (is_outage) await failed();
      throw error;
    }
  };
}
