import { countJobs } from "../counts/total.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { skipped_max, type QueueSignals, type ReadyJob, type Signal } from "./signal.ts";

/** A list that is longer, and twice as long as what waits, is emptied when it has none of the next jobs near its front. */
const list_max = 10 * skipped_max;

/**
 * Of a queue's next jobs, in order, those that its list lacks, as `look` saw it: offered again and again, it would grow by
 * all of them while no worker takes any. It is in order, so when it is long enough its next id shows what is missing. Where
 * that is none of them, what is in front of the first of them is dropped, such as jobs that were signalled again just before
 * the claim of who had taken them, or whose group has no start left by now: they are offered again when they may start. Prioritised
 * ones are kept once each, and need no such care.
 *
 * @example
 * await announce(deps, await notSignalled(deps, queue, jobs, await signal.look(queue)), "front");
 */
export async function notSignalled(
  deps: Pick<Deps, "database"> & { signal: Signal },
  queue: QueueRef,
  jobs: readonly ReadyJob[],
  { length, next }: QueueSignals,
): Promise<ReadyJob[]> {
  const { signal } = deps;
  const plain = jobs.flatMap(({ id, priority }) => (priority === 0 ? [id] : []));
  if (length < jobs.length || plain.length === 0) return [...jobs];
  const first = plain.includes(next ?? "") ? next : await signal.skipTo(queue, plain);
  const place = jobs.findIndex(({ id }) => id === first);
  // Looks that find others each time would make it longer and longer. One that has the backlog in its order is kept.
  if (place === -1 && length > list_max && length > 2 * (await countJobs(deps, queue.tenant, queue)).queued)
    await signal.setTurns(queue, false);
  return jobs.filter(({ priority }, at) => place === -1 || at < place || priority !== 0);
}
