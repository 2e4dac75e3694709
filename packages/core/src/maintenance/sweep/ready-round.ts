import { readyQueues, type ReadyQueue } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { offerMark } from "../../limits/marks.ts";
import { SignalUnavailableError } from "../../signal/signal.ts";
import { resignalOrphans } from "../resignal.ts";
import { createTenantRound } from "../tenant-round.ts";
import { createScanWindow } from "./scan-window.ts";

/** How long one sweep may go on signalling, beyond one queue per tenant. */
const round_ms_max = 1_000;

/**
 * Goes round all queues with ready jobs. Each sweep looks at some, and the next sweep goes on from there.
 * Returns how many jobs were signalled again.
 */
export function createReadyRound(deps: LoopDeps): () => Promise<number> {
  const window = createScanWindow();
  const round = createTenantRound(deps, readyQueues);

  /** Signals what is missing from a queue with ready jobs. Resolves with how many jobs were missing. */
  const offer = async (queue: ReadyQueue): Promise<number> => {
    if (!queue.marked && !deps.signal.marks_only)
      return window.look(queue, (reach_ms) => resignalOrphans(deps, queue, reach_ms));
    await offerMark(deps, queue);
    return 0;
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
