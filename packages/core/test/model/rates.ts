import { groupOf, queueOf, type Model, type ModelJob, type ModelQueue } from "./state.ts";

/** It has limits or turns. */
export const hasMark = ({ concurrency, rate, group_rate, in_turns }: ModelQueue) =>
  in_turns || concurrency !== null || rate !== null || group_rate !== null;

export const runningIn = (model: Model, of: string) =>
  [...model.jobs.values()].filter(({ queue, status }) => queue === of && status === "running").length;

/** What is in the window of a rate that ends now. */
function startsWithin(model: Model, name: string, period_seconds: number): number {
  const period_ms = period_seconds * 1_000;
  const starts = [...(model.starts.get(name) ?? [])];
  const within = starts.filter(([at]) => at > model.now - period_ms && at < model.now + period_ms);
  return within.reduce((sum, [, count]) => sum + count, 0);
}

/** How many more jobs of a queue may start. */
export function roomOf(model: Model, queue: string): number {
  const { concurrency, rate } = queueOf(model, queue);
  return Math.min(
    concurrency === null ? Infinity : concurrency - runningIn(model, queue),
    rate === null ? Infinity : rate.limit - startsWithin(model, queue, rate.period_seconds),
  );
}

/** How many more of the job's group may. */
export function groupRoom(model: Model, { queue, group }: ModelJob): number {
  const { group_rate } = queueOf(model, queue);
  if (group === null || group_rate === null) return Infinity;
  return group_rate.limit - startsWithin(model, groupOf(queue, group), group_rate.period_seconds);
}

/** A period is divided into a hundred; a start counts until the last of its part has left the window. */
function start(model: Model, name: string, period_seconds: number): void {
  const part_ms = period_seconds * 10;
  const at = Math.ceil(model.now / part_ms) * part_ms;
  const starts = model.starts.get(name) ?? new Map<number, number>();
  model.starts.set(name, starts.set(at, (starts.get(at) ?? 0) + 1));
}

/** Those of a longer period may be ahead of the shorter one that a rate gets now: they count from now on. */
export function countFromNow(model: Model, queue: string, before: ModelQueue, after: ModelQueue): void {
  for (const [name, starts] of model.starts) {
    if (name.split("/")[0] !== queue) continue;
    const rate = name.includes("/") ? "group_rate" : "rate";
    const [old_ms, new_ms] = [before, after].map((one) => (one[rate]?.period_seconds ?? 0) * 1_000) as [number, number];
    if (new_ms >= old_ms) continue;
    for (const [at, count] of starts)
      if (at > model.now + new_ms / 100 && at < model.now + old_ms) {
        starts.delete(at);
        starts.set(model.now, (starts.get(model.now) ?? 0) + count);
      }
  }
}

/** Those that have left their window. */
function forget(model: Model, name: string, period_seconds: number): void {
  for (const at of model.starts.get(name)?.keys() ?? [])
    if (at <= model.now - period_seconds * 1_000) model.starts.get(name)?.delete(at);
}

/** `open` are the queues of the claim that had room. */
export function noteStarts(model: Model, open: readonly string[], taken: readonly ModelJob[]): void {
  for (const queue of open) forget(model, queue, queueOf(model, queue).rate?.period_seconds ?? 0);
  for (const { queue, group } of taken) {
    const { rate, group_rate } = queueOf(model, queue);
    if (rate) start(model, queue, rate.period_seconds);
    if (!group_rate || group === null) continue;
    forget(model, groupOf(queue, group), group_rate.period_seconds);
    start(model, groupOf(queue, group), group_rate.period_seconds);
  }
}

/** The cleaner's part: also of groups that start no more jobs, and of queues that have no rate any more. */
export function forgetPastStarts(model: Model): void {
  for (const name of model.starts.keys()) {
    const [queue = "", group] = name.split("/");
    const { rate, group_rate } = queueOf(model, queue);
    forget(model, name, (group === undefined ? rate : group_rate)?.period_seconds ?? 0);
  }
}
