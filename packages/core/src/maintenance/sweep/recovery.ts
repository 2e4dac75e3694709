import type { Database } from "../../database/connect.ts";
import { isOutage } from "../../database/errors.ts";
import { onceMore } from "../../database/pool/once-more.ts";
import { putOff } from "../../lease/put-off.ts";
import { recovered_max } from "../../lease/recover.ts";
import type { SweepDeps } from "../loop-deps.ts";
import type { OutageWatch } from "./outage-watch.ts";
import { recoverAll } from "./recover-all.ts";

/** What was sent in vain is sent again four times a second. */
const grace_seconds = 3;
const claims_max = 1_000;

/**
 * `recoverAll`, but not right after a time without writes. Reads may have gone on while a disk was full or a standby
 * away, so nothing else of the sweep has noticed; meanwhile leases have run out that nobody could renew or give back, and
 * an attempt would be spent that no handler saw. So when ending leases has failed, `outage` is told, and they are first put
 * off, which fails too until writes are taken again; it is their holders' turn then. In a fleet each lease is put off once
 * after an outage, however many sweepers have met it.
 *
 * What was late, or cut off by the server or a proxy, may have been too much, so each time half as many jobs are taken back
 * in a statement, and twice as many after each sweep that went well.
 *
 * @example
 * const recover = createRecovery(deps, outage);
 * const recovered = await recover();
 */
export function createRecovery(
  deps: SweepDeps,
  outage: Pick<OutageWatch, "failed" | "settledIn">,
): () => Promise<number> {
  let failed_at: number | undefined;
  let jobs_max = recovered_max;
  const putAllOff = async (since: number): Promise<number> => {
    let total = 0;
    for (let count = claims_max; count === claims_max; total += count) {
      const once_in_seconds = (performance.now() - since) / 1_000;
      count = await putOff(deps, { seconds: grace_seconds, once_in_seconds, claims_max });
    }
    return total;
  };
  const recoverSome = async (database: Database): Promise<number> => {
    try {
      const count = await recoverAll({ ...deps, database }, jobs_max, outage.settledIn);
      jobs_max = Math.min(2 * jobs_max, recovered_max);
      return count;
    } catch (error) {
      if (isOutage(error)) jobs_max = Math.ceil(jobs_max / 2);
      throw error;
    }
  };
  return async () => {
    try {
      const count = failed_at === undefined ? 0 : await putAllOff(failed_at);
      failed_at = undefined;
      return count > 0 ? 0 : await onceMore(deps.database, recoverSome);
    } catch (error) {
      if (isOutage(error)) {
        failed_at = performance.now();
        await outage.failed();
      }
      throw error;
    }
  };
}
