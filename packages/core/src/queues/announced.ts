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
