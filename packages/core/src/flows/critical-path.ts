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
  const lengths = new Map<Job, number>();
  /** How many jobs that are not final a chain up to a job has at most. */
  const openUpTo = (one: Job): number => {
    const known = lengths.get(one);
    if (known !== undefined) return known;
    // Not even a broken table may make it go round.
    lengths.set(one, 0);
    const length = Math.max(0, ...parentsOf(one).map(openUpTo)) + (isFinal(one.status) ? 0 : 1);
    lengths.set(one, length);
    return length;
  };
  const endOf = (one: Job) => (isFinal(one.status) ? Date.parse(one.finished_at ?? "") || 0 : Infinity);
  const isLater = (one: Job, other: Job) =>
    endOf(one) > endOf(other) || (endOf(one) === endOf(other) && openUpTo(one) > openUpTo(other));
  const lastOf = (among: readonly Job[]) =>
    among.reduce<Job | undefined>((last, one) => (last && !isLater(one, last) ? last : one), undefined);

  const path: string[] = [];
  // Parents come before their children, so this ends; not even a broken table may make it go round.
  for (let one = lastOf(jobs); one && path.length < jobs.length; one = lastOf(parentsOf(one))) path.unshift(one.id);
  return path;
}
