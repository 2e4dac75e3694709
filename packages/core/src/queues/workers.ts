import type { SeenWorker } from "../signal/presence.ts";
import { SignalUnavailableError, type Signal } from "../signal/signal.ts";

/** The workers of a tenant that announce themselves; undefined when Redis, which knows them, is away. */
export async function announcedWorkers(signal: Signal, tenant: string): Promise<readonly SeenWorker[] | undefined> {
  return signal.presence.list(tenant).catch((error: unknown) => {
    if (error instanceof SignalUnavailableError) return undefined;
    throw error;
  });
}

/** Of workers, those that take jobs of a queue. */
export const servingOf = (workers: readonly SeenWorker[] | undefined, queue: string): SeenWorker[] | undefined =>
  workers?.filter(({ state, queues }) => state === "running" && queues.includes(queue));

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
