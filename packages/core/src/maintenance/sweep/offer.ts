import { offerMark } from "../../limits/marks.ts";
import { resignalOrphans } from "../resignal.ts";
import { type ReadyQueue } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { createReaches } from "./reaches.ts";

/** Signals what is missing from a queue with ready jobs. Resolves with how many jobs were missing. */
export type Offer = (queue: ReadyQueue) => Promise<number>;

export function createOffer(deps: LoopDeps): Offer {
  const reaches = createReaches();
  return async (queue) => {
    if (!queue.marked && !deps.signal.marks_only)
      return reaches.look(queue, (reach_ms) => resignalOrphans(deps, queue, reach_ms));
    await offerMark(deps, queue);
    return 0;
  };
}
