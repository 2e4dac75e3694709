import { defaultTenant, type QueueRef } from "../deps.ts";

/** The two names an operator chooses; a hash tag in them keeps all keys in one slot of a Redis Cluster. */
export type SignalKeys = { jobs: string; dead_letters: string };

export const defaultKeys: SignalKeys = { jobs: "atlasqueue:jobs", dead_letters: "atlasqueue:dlq" };

/** The list of a queue's ids: the default tenant's default queue has the plain name, others derive from it. */
export function listKey(keys: SignalKeys, { tenant, queue }: QueueRef): string {
  if (tenant === defaultTenant && queue === "default") return keys.jobs;
  return tenant === defaultTenant ? `${keys.jobs}:queue:${queue}` : `${keys.jobs}:tenant:${tenant}:queue:${queue}`;
}

/** Ids whose priority is not 0, sorted by it. */
export const priorityKey = (list: string) => `${list}:priority`;
/** Present while ids of the queue are missing from a full list. */
export const overflowKey = (list: string) => `${list}:overflow`;
export const turnKey = (keys: SignalKeys, name: string) => `${keys.jobs}:turn:${name}`;
export const deadLetterMembersKey = (keys: SignalKeys) => `${keys.dead_letters}:members`;
export const deadLetterCursorKey = (keys: SignalKeys) => `${keys.dead_letters}:cursor`;
