import { refillQueue } from "../../limits/refill.ts";
import type { Behind } from "../../limits/within-rates.ts";
import { resignalOrphans } from "../resignal.ts";
import { type ReadyQueue } from "../../queues/ready-queues.ts";
import { createOfferInTurns } from "../../turns/offer.ts";
import type { LoopDeps } from "../loop-deps.ts";
import { createReaches } from "./reaches.ts";

/** Signals what is missing from a queue with ready jobs. Resolves with how many jobs were missing. */
export type Offer = (queue: ReadyQueue) => Promise<number>;

export function createOffer(deps: LoopDeps): Offer {
  const offerInTurns = createOfferInTurns(deps);
  const reaches = createReaches();
  const behind: Behind = new Map();
  return async (queue) => {
    if (queue.in_turns) return offerInTurns(queue);
    if (!queue.limited) return reaches.look(queue, (reach_ms) => resignalOrphans(deps, queue, reach_ms));
    await refillQueue(deps, queue, { behind });
    return 0;
  };
}
