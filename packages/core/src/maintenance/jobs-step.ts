import { hint } from "../signal/announce.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { firstId, type prune } from "./prune.ts";
import { retentionFailed } from "./report-failed.ts";
import type { JobRetention } from "./retention.ts";

/** Removes some rows of one kind. True when more of them may be left. */
export type Step = () => Promise<boolean>;

const jobs_max = 500;
/** Jobs passed over in one pass, as each takes as many tries as it takes halvings to find it. */
const failures_max = 10;

export type Removed = { jobs: number; keys: number; results: number };

/** Where the passes over the jobs are: each goes on there if the last one ended before its time. */
export type Place = { after: string };

type How = { retention: JobRetention; removed: Removed; pruneSome: typeof prune; place: Place };

/**
 * A pass over the finished jobs, `part` of the cleaner, as a step to be called until it says false.
 *
 * @example
 * const step = jobsStep(deps, "jobs", { retention, removed, pruneSome: prune, place: { after: firstId } });
 * while (await step());
 */
export function jobsStep(deps: LoopDeps, part: string, { retention, removed, pruneSome, place }: How): Step {
  let failures = 0;
  return async () => {
    const { dead, jobs, next, failed } = await pruneSome(deps, retention, place.after, jobs_max);
    if (dead.length > 0) await hint(deps.observe, "dead letters", () => deps.signal.deadLetters.remove(dead));
    removed.jobs += jobs;
    place.after = next ?? firstId;
    if (failed === undefined) return next !== undefined;
    retentionFailed(deps, part, failed, next);
    failures += 1;
    return next !== undefined && failures < failures_max;
  };
}
