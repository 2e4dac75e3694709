import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { firstPlace, placeColumns, readyAfterPlace, type Place } from "../queues/places.ts";
import { everyReadyQueue, type ReadyQueue } from "../queues/ready-queues.ts";
import { markAnew } from "../limits/marks.ts";
import { send } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";

const page_jobs_max = 1_000;

/**
 * queued → queued, all signalled again: the lists of every queue with ready jobs are emptied and refilled from
 * Postgres, in order. Safe while workers run: a job signalled twice is claimed once, and the sweep fills what a crash
 * leaves empty. Returns how many were signalled. Throws SignalUnavailableError.
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
  await signal.endOverflow(queue);
  let pushed = 0;
  for (let after = firstPlace; ;) {
    const page = await readyAfter(deps, queue, after);
    const taken = page.length === 0 ? 0 : await send(deps, page, "back");
    pushed += taken;
    after = page.at(-1) ?? after;
    // A full list takes no more: the sweep adds the rest when it is empty.
    if (page.length < page_jobs_max || taken === 0) return pushed;
  }
}

async function readyAfter(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  { priority, ready, id }: Place,
): Promise<readonly (ReadyJob & Place)[]> {
  return executeOn(deps.database)<ReadyJob & Place>({
    text: readyPage,
    params: [tenant, queue, priority, ready, id],
  });
}

const readyPage = composed(
  "maintenance/ready-page",
  ["tenant", "queue", "priority", "ready_at", "id"],
  `
  SELECT id, tenant, queue, priority, ready
  FROM (${readyAfterPlace(`tenant, queue, ${placeColumns}, ready_at`, page_jobs_max)}) AS page
  ORDER BY priority DESC, ready_at, id`,
);
