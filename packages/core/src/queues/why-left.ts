import type { SeenWorker } from "../signal/presence.ts";

/** A ready job that has waited this long while workers are idle is one no worker takes. */
export const ready_ms_max = 60_000;

/** Why ready jobs of a queue are not taken. */
export type Left = "no_worker" | "workers_stuck" | "free_workers";

/**
 * Why nobody takes the jobs of a queue that have waited for long; undefined when it is being worked on. `serving` are
 * the workers that announce themselves for it. Workers that lease over HTTP announce nothing, and are seen only by what
 * they run.
 */
export function whyLeft(
  { limited, running }: { limited: boolean; running: number },
  serving: readonly Pick<SeenWorker, "state" | "active" | "concurrency">[],
): Left | undefined {
  if (serving.length === 0) return running === 0 ? "no_worker" : undefined;
  if (serving.every(({ state }) => state === "stuck")) return "workers_stuck";
  const free = serving.filter(({ state, active, concurrency }) => state === "running" && active < concurrency);
  // Its limits may not let more start.
  return free.length > 0 && !limited ? "free_workers" : undefined;
}
