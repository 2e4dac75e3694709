import { Command } from "ioredis";
import { hasTag, type SignalKeys } from "../keys.ts";

/** A Redis Cluster has so many slots. */
const slots = 16_384;
/**
 * Over how many slots the queues are spread. A worker waits on one connection for each that its queues are in, as a pop
 * may name keys of one slot only: this bounds them, however many queues it serves. More servers than that gain nothing.
 */
const shards = 8;

/** The hash slot of a key in a cluster, from 0 to 16,383. */
export const slotOf = (key: string): number => new Command("get", [key]).getSlot();

export type ClusterKeys = SignalKeys & {
  /** What the keys of queues begin with, each in another slot. */
  bases: readonly string[];
};

/**
 * The names in a cluster: those of a queue share a slot, and queues are spread over eight of them, evenly over the range
 * of slots. A name with a hash tag of the operator's own stays as it is, and all its keys are in one slot.
 *
 * @example
 * queueKeys(clusterKeys(defaultKeys), { tenant: "default", queue: "mail" }).list; // "{atlasqueue:jobs:4}:queue:mail"
 */
export function clusterKeys(keys: SignalKeys): ClusterKeys {
  if (hasTag(keys.jobs)) return { ...keys, bases: [keys.jobs], shardOf: () => keys.jobs };
  const bases: string[] = [];
  // The first number that falls into each part of the range.
  for (let number = 0; Object.keys(bases).length < shards; number += 1) {
    const part = Math.floor((slotOf(`${keys.jobs}:${number}`) * shards) / slots);
    bases[part] ??= `{${keys.jobs}:${number}}`;
  }
  return {
    ...keys,
    bases,
    shardOf: ({ tenant, queue }) => bases[slotOf(`${tenant}:${queue}`) % shards] as string,
  };
}
