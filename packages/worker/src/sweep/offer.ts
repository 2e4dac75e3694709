import { refillQueue, resignalOrphans, type ReadyQueue } from "@atlasqueue/core/internal";
import type { WorkerDeps } from "../deps.ts";

/** Signal what is missing of a queue with ready jobs. Returns how many jobs were found to be. */
export async function offer(deps: WorkerDeps, queue: ReadyQueue): Promise<number> {
  if (!queue.limited) return resignalOrphans(deps, queue);
  await refillQueue(deps, queue);
  return 0;
}
