import { groupOf, type Model, type ModelJob } from "./state.ts";

/** When the job's group last started one; jobs without a group are one group, and may have started none. */
const lastStart = (model: Model, { queue, group }: ModelJob): number =>
  (group === null ? model.ungrouped_started.get(queue) : model.groups.get(groupOf(queue, group))?.last_started) ??
  -Infinity;

/** The jobs of a queue whose groups take turns, by age before: one of each group, then the second of each. */
export function inTurn(model: Model, jobs: readonly ModelJob[]): ModelJob[] {
  const placed = jobs.map((job, at) => {
    const before = jobs.slice(0, at).filter(({ group, priority }) => group === job.group && priority === job.priority);
    return { job, round: before.length, started: lastStart(model, job) };
  });
  const first = (a: number, b: number) => (a === b ? 0 : a - b);
  const sorted = placed.toSorted(
    (a, b) => b.job.priority - a.job.priority || a.round - b.round || first(a.started, b.started),
  );
  return sorted.map(({ job }) => job);
}

/** Jobs of such queues have started. */
export function noteTurns(model: Model, taken: readonly ModelJob[]): void {
  for (const { queue, group } of taken) {
    const known = group === null ? undefined : model.groups.get(groupOf(queue, group));
    if (known) known.last_started = model.now;
    else model.ungrouped_started.set(queue, model.now);
  }
}
