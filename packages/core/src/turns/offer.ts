import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyInGroup, Signal } from "../signal/signal.ts";
import { oldestInGroups, readyOfGroups } from "./ready.ts";

/** A signal may still be on its way for this long, or its id in the hands of a worker: twice does no harm, only work. */
const grace_ms = 500;
const gap_ms = 2_000;
/** With fewer in the lists than this, they are filled. */
const few = 5_000;
const refill_jobs_max = 10_000;
const repair_jobs_max = 1_000;
const groups_max = 500;
const look_ms_max = 500;
const cursors_max = 10_000;

/** Offers what waits in queues whose groups take turns. Resolves with how many jobs were not signalled before. */
export type OfferInTurns = (queue: QueueRef) => Promise<number>;

/**
 * queued → queued, signalled again, in queues whose groups take turns: the oldest jobs, and the first ones of some
 * groups, however many others wait in front of them. Each look goes on with the groups after those of the last one.
 * Jobs that are in the lists keep their places there. It also makes a queue's groups take turns, if Redis does not know
 * of it: because it was flushed, or because whoever set it died.
 *
 * @example
 * const offerInTurns = createOfferInTurns(deps);
 * await offerInTurns({ tenant: "default", queue: "mail" });
 */
export function createOfferInTurns(deps: Deps & { signal: Signal }): OfferInTurns {
  const cursors = new Map<string, string>();

  const ofGroups = async (queue: QueueRef, age_ms_min: number, jobs_max: number): Promise<ReadyInGroup[]> => {
    const end = performance.now() + look_ms_max;
    const name = `${queue.tenant} ${queue.queue}`;
    const found: ReadyInGroup[] = [];
    let after = cursors.get(name);
    do {
      const page = await readyOfGroups(deps, queue, age_ms_min, after ?? "", groups_max);
      found.push(...page.jobs);
      after = page.last;
    } while (after !== undefined && found.length < jobs_max && performance.now() < end);
    if (cursors.size > cursors_max) cursors.clear();
    // At the end it starts over.
    if (after === undefined) cursors.delete(name);
    else cursors.set(name, after);
    return found;
  };

  return async (queue) => {
    const { signal } = deps;
    const lists = await signal.look(queue);
    if (!lists.in_turns) await signal.setTurns(queue, true);
    const refill = !lists.in_turns || lists.length < few;
    const [age_ms_min, jobs_max] = refill ? [grace_ms, refill_jobs_max] : [gap_ms, repair_jobs_max];
    const [oldest, others] = await Promise.all([
      oldestInGroups(deps, queue, lists.in_turns ? age_ms_min : 0, jobs_max),
      ofGroups(queue, lists.in_turns ? age_ms_min : 0, jobs_max),
    ]);
    const count = await signal.pushInTurns([...oldest, ...others]);
    if (count > 0) deps.observe({ event: "jobs_resignalled", queue: queue.queue, count });
    return count;
  };
}
