import { NotFoundError } from "@atlasqueue/client";
import type { OneQueue, Queue } from "@atlasqueue/contract";
import { client } from "./client.ts";
import { useLive } from "./queries.ts";
import { refresh_ms } from "./refresh.ts";

export const queuesKey = ["queues"] as const;
/** Those that are shown by themselves. */
export const everyQueueKey = ["queue"] as const;
export const oneQueueKey = (name: string) => [...everyQueueKey, name] as const;

/** All queues, by name. */
export function useQueues(every_ms = refresh_ms) {
  return useLive<Queue[]>({ key: queuesKey, ask: (signal) => client.queues({ signal }), every_ms });
}

const names_ms = 60_000;

/** Their names, to choose from: not asked for again with every event. */
export const useQueueNames = (): readonly string[] => (useQueues(names_ms).data ?? []).map(({ queue }) => queue);

/** One of them, or null when there is none of that name. */
export function useQueue(name: string) {
  return useLive<OneQueue | null>({
    key: oneQueueKey(name),
    ask: (signal) =>
      client.queue(name, { signal }).catch((error: unknown) => {
        if (error instanceof NotFoundError) return null;
        throw error;
      }),
  });
}
