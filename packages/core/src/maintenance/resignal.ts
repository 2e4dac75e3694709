import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";
import { everyReadyQueue, type ReadyQueue } from "../queues/ready-queues.ts";
import { markAnew } from "../limits/marks.ts";

/** A signal may still be on its way for this long; signalling a job twice does no harm, only work. */
const grace_ms = 500;
/** How much older than the list's next id a job must be to count as lost while the list is busy. */
const gap_ms = 2_000;
const refill_jobs_max = 10_000;
const repair_jobs_max = 1_000;

/**
 * queued → queued, signalled again: jobs whose signal was lost with a process, with Redis, or to a full list. An empty
 * list proves that every job still queued is one of them. In a busy list the next id is the proof: the list is in
 * order, so a job that became ready well before that one is no longer in it. What is found goes to the front, which
 * makes it the next id: the next sweep does not find the same job again. Prioritised jobs are offered again whenever
 * they wait, as their set keeps each once. Returns how many were missing. Throws SignalUnavailableError.
 */
export async function resignalOrphans(deps: Deps & { signal: Signal }, queue: QueueRef): Promise<number> {
  const { signal } = deps;
  const lists = await signal.look(queue);
  // As they did before, until the process that ended it died.
  if (lists.marked) await signal.setMarked(queue, false);
  let orphans: readonly ReadyJob[];
  if (lists.length === 0 || lists.marked) {
    orphans = await readyJobs(deps, queue, { age_ms_min: grace_ms, jobs_max: refill_jobs_max });
    if (lists.overflowed && orphans.length < refill_jobs_max) await signal.setMarked(queue, false);
  } else {
    const missing = { age_ms_min: gap_ms, jobs_max: repair_jobs_max, next_id: lists.next ?? "" };
    orphans = await readyJobs(deps, queue, missing);
  }
  // Not as a hint: a failure must not be taken for nothing missing.
  const count = orphans.length > 0 ? await signal.pushFront(orphans) : 0;
  if (count > 0) {
    deps.observe({ event: "job_enqueued", queue: queue.queue, count });
    deps.observe({ event: "jobs_resignalled", queue: queue.queue, count });
  }
  return count;
}

/**
 * queued → queued, all signalled again: the lists of every queue with ready jobs are emptied and refilled from
 * Postgres, in order, with up to 10,000 jobs each. Safe while workers run: a job signalled twice is claimed once, and the
 * sweep fills what a crash leaves empty. Returns how many were signalled. Throws SignalUnavailableError.
 *
 * @example
 * const { queues, jobs } = await rebuildWakeUps(deps);
 */
export async function rebuildWakeUps(deps: Deps & { signal: Signal }): Promise<{ queues: number; jobs: number }> {
  let queues = 0;
  let jobs = 0;
  for await (const queue of everyReadyQueue(deps)) {
    queues += 1;
    const count = await rebuild(deps, queue);
    if (count > 0) deps.observe({ event: "jobs_resignalled", queue: queue.queue, count });
    jobs += count;
  }
  return { queues, jobs };
}

async function rebuild(deps: Deps & { signal: Signal }, queue: ReadyQueue): Promise<number> {
  const { signal } = deps;
  if (queue.marked || signal.marks_only) return markAnew(deps, queue);
  await signal.setMarked(queue, false);
  const ready = await readyJobs(deps, queue, { jobs_max: refill_jobs_max });
  return ready.length === 0 ? 0 : signal.push(ready);
}
