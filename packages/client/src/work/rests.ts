import { outage_hold_ms } from "@atlasqueue/contract";
import { isDatabaseAway } from "../errors.ts";
import { backoffMs } from "../http/retry.ts";
import { triesApartMs } from "../resources/give-back.ts";
import { holdOn } from "./database-away.ts";
import type { HeldJob } from "./held-jobs.ts";

/**
 * When to renew a lease that has just begun: after a third of it at most, and not at the same moment as all others that were
 * leased with it, or an API would have the renewals of thousands of jobs at once, over and over.
 */
export const renewInMs = (lease_ms: number): number => (lease_ms * (3 + Math.random())) / 12;

/** An API may take that long to say that its database is away: asked again before, an outage would be twice the work for it. */
const patience_ms = 2_500;
/** With less than that left, one more answer would come too late. */
const left_ms_min = 1_000;
/** One try takes so long at most, and with more than that left there is time for another after it. */
export const try_ms_max = 10_000;
const left_ms_max = try_ms_max + patience_ms;

/**
 * How long a renewal waits for its answer until it is sent once more beside the first, where that may take all that is left of
 * its lease: a third of it, so that one answer which the network swallowed leaves time for another. At least the API's own
 * patience where a lease is long enough for that.
 *
 * @example
 * againMs(9_000); // 3,000
 */
export const againMs = (left_ms: number): number =>
  left_ms < left_ms_min || left_ms > left_ms_max ? Infinity : Math.max(left_ms / 3, Math.min(patience_ms, left_ms / 2));

/**
 * The same for a job whose handler has not begun: there is nothing to abort at the end, and as its answer was late, its lease may
 * have begun, and so end, later than is certain. Near that end and beyond it is asked for as often as what is given back.
 */
export const againBeforeStartMs = (left_ms: number, lease_ms: number): number =>
  left_ms < left_ms_min ? triesApartMs(lease_ms) : againMs(left_ms);

/** Between two tries near the end of a lease. */
const rest_ms_min = 200;

/**
 * How long to rest after each failed renewal of a job. That the API says its database is away costs no lease; what fails in
 * another way begins with short rests after each such answer, which holds the job for some seconds only.
 *
 * @example
 * const rests = createRests(job);
 * await pause(rests.afterMs(error));
 */
export function createRests(job: HeldJob) {
  let failures = 0;
  return {
    renewed(): void {
      failures = 0;
    },
    afterMs(error: unknown): number {
      if (isDatabaseAway(error)) {
        failures = 0;
        holdOn([job]);
        return awayRestMs(job.ends_at_ms - performance.now(), Math.random());
      }
      failures += 1;
      return restMs(job.ends_at_ms - performance.now(), failures, Math.random());
    },
  };
}

/**
 * While the API says that its database is away: a second at most in the hold of such an answer, as the sweepers give holders
 * three seconds once the database is back, and longer while a lease has longer to go. Thousands of jobs that are held would
 * keep an API from its answers otherwise, when it is back as well.
 */
export const awayRestMs = (left_ms: number, random: number): number =>
  (Math.max(outage_hold_ms, left_ms) / outage_hold_ms) * (500 + 500 * random);

/** The rest of a lease is not slept through: another try is always in time, until hardly anything is left. */
export function restMs(left_ms: number, failures: number, random: number): number {
  const rest_ms = backoffMs(failures, random);
  return left_ms > 0 ? Math.min(rest_ms, Math.max(left_ms / 2, rest_ms_min)) : rest_ms;
}
