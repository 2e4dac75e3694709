import { refillQueue } from "../../limits/refill.ts";
import { resignalOrphans } from "../resignal.ts";
import { type ReadyQueue } from "../../queues/ready-queues.ts";
import type { LoopDeps } from "../loop-deps.ts";

/** Signal what is missing from a queue with ready jobs. Returns how many jobs were missing. */
export async function offer(deps: LoopDeps, queue: ReadyQueue): Promise<number> {
  if (!queue.limited) return resignalOrphans(deps, queue);
  await refillQueue(deps, queue);
  return 0;
}
