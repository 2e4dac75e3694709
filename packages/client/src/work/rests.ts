import { backoffMs } from "../http/retry.ts";
import { away_retry_ms_max, holdOn, isDatabaseAway } from "./database-away.ts";
import type { HeldJob } from "./held-jobs.ts";

/** Between two tries near the end of a lease. */
const rest_ms_min = 200;

/**
 * How long to rest after each failed renewal of a job. That the API says its database is away costs no lease, if the end of
 * the outage is met at once; what fails in another way begins with short rests after each such answer, which holds the job
 * for some seconds only.
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
        return (away_retry_ms_max * (1 + Math.random())) / 2;
      }
      failures += 1;
      return restMs(job.ends_at_ms - performance.now(), failures, Math.random());
    },
  };
}

/** The rest of a lease is not slept through: another try is always in time, until hardly anything is left. */
export function restMs(left_ms: number, failures: number, random: number): number {
  const rest_ms = backoffMs(failures, random);
  return left_ms > 0 ? Math.min(rest_ms, Math.max(left_ms / 2, rest_ms_min)) : rest_ms;
}
