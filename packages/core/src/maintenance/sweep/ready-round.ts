import { readyQueues, type ReadyQueue } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop.ts";
import { offerMark } from "../../limits/marks.ts";
import { SignalUnavailableError } from "../../signal/signal.ts";
import { resignalOrphans } from "../resignal.ts";
import { createTenantRound } from "../tenant-round.ts";

/** How long one sweep may go on signalling, beyond one queue per tenant. */
const round_ms_max = 1_000;
/**
 * A look that finds nothing rests for so many times as long as it took: beside an old snapshot it reads the entry of every
 * job claimed since.
 */
const rest_factor = 20;
const resting_max = 10_000;

/**
 * Goes round all queues with ready jobs. Each sweep looks at some, and the next sweep goes on from there.
 * Returns how many jobs were signalled again.
 */
export function createReadyRound(deps: LoopDeps): () => Promise<number> {
  const round = createTenantRound(deps, readyQueues);
  /** Until when the next look at each queue waits. */
  const resting = new Map<string, number>();

  /** Signals what is missing from a queue with ready jobs. Resolves with how many jobs were missing. */
  const offer = async (queue: ReadyQueue): Promise<number> => {
    if (queue.marked || deps.signal.marks_only) {
      await offerMark(deps, queue);
      return 0;
    }
    const name = JSON.stringify([queue.tenant, queue.queue]);
    const began_at = performance.now();
    if (began_at < (resting.get(name) ?? 0)) return 0;
    let rests = true;
    try {
      const missing = await resignalOrphans(deps, queue);
      rests = missing === 0;
      return missing;
    } catch (error) {
      // Redis may come back with nothing in it.
      rests = !(error instanceof SignalUnavailableError);
      throw error;
    } finally {
      if (resting.size >= resting_max) resting.clear();
      const now = performance.now();
      resting.set(name, rests ? now + rest_factor * (now - began_at) : now);
    }
  };

  return async () => {
    const end = performance.now() + round_ms_max;
    const pages = await round.next();
    let resignalled = 0;
    let failed: SignalUnavailableError | undefined;
    const longest = Math.max(0, ...[...pages.values()].map((page) => page.length));
    for (let place = 0; place < longest; place += 1) {
      const is_late = place > 0 && performance.now() >= end;
      for (const page of pages.values()) {
        const queue = page[place];
        if (!queue) continue;
        // The next sweep goes on there.
        if (is_late) round.cameTo(page[place - 1] ?? queue);
        else if (!queue.paused)
          resignalled += await offer(queue).catch((error: unknown) => {
            // Of this queue's list, perhaps: the others must not wait behind it, at every round anew.
            if (!(error instanceof SignalUnavailableError)) throw error;
            failed = error;
            return 0;
          });
      }
      if (is_late) break;
    }
    if (failed) throw failed;
    return resignalled;
  };
}
