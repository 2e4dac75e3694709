import { isFinal, type FlowJob } from "@atlasqueue/contract";

type Job = Pick<FlowJob, "id" | "status" | "depends_on" | "finished_at">;

/**
 * The chain of jobs that the end of their flow hangs, or hung, on: from the job that ends last back to the parent that
 * ended last, and so on to the beginning. One that has not ended counts as ending later than all that have; of several,
 * the one at the end of the longest chain of such. Parents that are not among the jobs are left out.
 *
 * @example
 * criticalPath(jobs); // ["0192…", "0193…"], first to last
 */
export function criticalPath(jobs: readonly Job[]): string[] {
  const byId = new Map(jobs.map((one) => [one.id, one]));
  const parentsOf = (one: Job) => one.depends_on.flatMap((id) => byId.get(id) ?? []);
  const open = openChains(jobs, parentsOf);
  const endOf = (one: Job) => (isFinal(one.status) ? Date.parse(one.finished_at ?? "") || 0 : Infinity);
  const isLater = (one: Job, other: Job) =>
    endOf(one) > endOf(other) || (endOf(one) === endOf(other) && (open.get(one) ?? 0) > (open.get(other) ?? 0));
  const lastOf = (among: readonly Job[]) =>
    among.reduce<Job | undefined>((last, one) => (last && !isLater(one, last) ? last : one), undefined);

  const path: string[] = [];
  // Parents come before their children, so this ends; not even a broken table may make it go round.
  for (let one = lastOf(jobs); one && path.length < jobs.length; one = lastOf(parentsOf(one))) path.unshift(one.id);
  return path;
}

/** How many jobs that are not final a chain up to each job has at most. Without recursion: chains may be long. */
function openChains(jobs: readonly Job[], parentsOf: (one: Job) => Job[]): Map<Job, number> {
  const lengths = new Map<Job, number>();
  const begun = new Set<Job>();
  for (const first of jobs) {
    const stack = [first];
    for (let one = stack.at(-1); one; one = stack.at(-1)) {
      const left = begun.has(one) ? [] : parentsOf(one).filter((parent) => !lengths.has(parent));
      begun.add(one);
      if (left.length > 0) stack.push(...left.filter((parent) => !begun.has(parent)));
      if (one !== stack.at(-1)) continue;
      stack.pop();
      const above = Math.max(0, ...parentsOf(one).map((parent) => lengths.get(parent) ?? 0));
      lengths.set(one, above + (isFinal(one.status) ? 0 : 1));
    }
  }
  return lengths;
}
