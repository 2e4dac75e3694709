import type { Deps } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import { everyReadyQueue, type ReadyQueue } from "../queues/ready-queues.ts";
import { markAnew } from "../limits/marks.ts";
import type { Signal } from "../signal/signal.ts";

/** Of each queue. The sweep adds what is behind them when workers come to it. */
const refill_jobs_max = 10_000;

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
