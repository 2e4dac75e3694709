import { hint } from "../signal/announce.ts";
import type { Pace } from "./by-halves.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { firstId, type prune } from "./prune.ts";
import { reportFailed } from "./report-failed.ts";
import type { JobRetention } from "./retention.ts";

/** Removes some rows of one kind. True when more of them may be left. */
export type Step = () => Promise<boolean>;

/** Of what comes at the rate of the jobs: with the rests, 500 were fewer a second than can be processed. */
export const jobs_max = 2_000;
/** Of the first page, whose jobs may have half a megabyte each: quick pages soon lead to the most. */
const jobs_first = 500;
/** Jobs passed over in one pass, as each takes as many tries as it takes halvings to find it. */
const failures_max = 10;

export type Removed = { jobs: number; keys: number };

/**
 * Where the passes over the jobs are: each goes on there if the last one ended before its time. `in_vain` is how many in
 * a row have met another process first thing.
 */
export type Place = { after: string; pace: Pace; in_vain: number };
export const firstPlace = (): Place => ({ after: firstId, pace: { rows: jobs_first }, in_vain: 0 });

type How = { retention: JobRetention; removed: Removed; pruneSome: typeof prune; place: Place };

/**
 * A pass over the finished jobs, `part` of the cleaner, as a step to be called until it says false.
 *
 * @example
 * const step = jobsStep(deps, "jobs", { retention, removed, pruneSome: prune, place: firstPlace() });
 * while (await step());
 */
export function jobsStep(deps: LoopDeps, part: string, { retention, removed, pruneSome, place }: How): Step {
  let failures = 0;
  let first = true;
  return async () => {
    const step = await pruneSome(deps, retention, place.after, jobs_max, place.pace);
    const { dead, jobs, next, failed, met_another } = step;
    if (dead.length > 0) await hint(deps.observe, "dead letters", () => deps.signal.deadLetters.remove(dead));
    removed.jobs += jobs;
    place.after = next ?? firstId;
    if (met_another) {
      // It is at work on the same; this pass ends, and the next one goes on here.
      place.in_vain = first ? place.in_vain + 1 : 0;
      // Once, it is on its way; again and again, it may be stuck.
      if (place.in_vain > 1) deps.observe({ event: "pruning_met_another", part, passes: place.in_vain });
      return false;
    }
    first = false;
    place.in_vain = 0;
    if (failed === undefined) return next !== undefined;
    reportFailed(deps, part, failed, next);
    failures += 1;
    return next !== undefined && failures < failures_max;
  };
}
