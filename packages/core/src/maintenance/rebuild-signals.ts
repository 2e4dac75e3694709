import type { Deps } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import { everyReadyQueue, type ReadyQueue } from "../queues/ready-queues.ts";
import { markAnew } from "../limits/marks.ts";
import { send } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";

const page_jobs_max = 1_000;
/** Of each queue. The sweep adds what is behind them when workers come to it. */
const refill_jobs_max = 10_000;

/**
 * queued → queued, all signalled again: the lists of every queue with ready jobs are emptied and refilled from
 * Postgres, in order, with up to 10,000 jobs each. Safe while workers run: a job signalled twice is claimed once, and the
 * sweep fills what a crash leaves empty. Returns how many were signalled. Throws SignalUnavailableError.
 *
 * @example
 * const { queues, jobs } = await rebuildSignals(deps);
 */
export async function rebuildSignals(deps: Deps & { signal: Signal }): Promise<{ queues: number; jobs: number }> {
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
  if ((await signal.look(queue)).marked) await signal.setMarked(queue, false);
  // No more than was there, or a busy queue would never be empty.
  let old = (await signal.look(queue)).length;
  while (old > 0) {
    const taken = await signal.take([queue], Math.min(old, page_jobs_max));
    if (taken.length === 0) break;
    old -= taken.length;
  }
  const ready = await readyJobs(deps, queue, 0, refill_jobs_max);
  if (ready.length < refill_jobs_max) await signal.endOverflow(queue);
  return ready.length === 0 ? 0 : send(deps, ready, "back");
}
