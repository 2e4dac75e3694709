import { defaultSchema } from "../database/schema/name.ts";
import { defaultTenant, type QueueRef } from "../deps.ts";
import type { Topic } from "./signal.ts";

/** The two names an operator chooses; a hash tag in them keeps all keys in one slot of a Redis Cluster. */
export type SignalKeys = {
  jobs: string;
  deadLetters: string;
  /** In a Redis Cluster: what the names of a queue's keys begin with, a hash tag, so that they share a slot. */
  shardOf?: ((queue: QueueRef) => string) | undefined;
};

/** The names unless an operator chooses others. @example keysOf("emails").jobs; // "emails:jobs" */
export const keysOf = (schema: string = defaultSchema): SignalKeys => ({
  jobs: `${schema}:jobs`,
  deadLetters: `${schema}:dlq`,
});
export const defaultKeys = keysOf();

/** The keys of one queue. A key's purpose comes before the queue's name, so that no name can be another's key. */
export type QueueKeys = {
  /** Ids of ordinary priority. The default tenant's default queue has the plain name. */
  list: string;
  /** Ids whose priority is not 0, sorted by it. */
  priorities: string;
  /** Present while ids of the queue are missing from a full list, or the queue is marked. */
  overflow: string;
};

/** @example queueKeys(defaultKeys, { tenant: "default", queue: "mail" }).list; // "atlasqueue:jobs:queue:mail" */
export function queueKeys({ jobs, shardOf }: SignalKeys, { tenant, queue }: QueueRef): QueueKeys {
  const name =
    tenant === defaultTenant ? (queue === "default" ? "" : `:queue:${queue}`) : `:tenant:${tenant}:queue:${queue}`;
  const base = shardOf?.({ tenant, queue }) ?? jobs;
  return {
    list: `${base}${name}`,
    priorities: `${base}:priority${name}`,
    overflow: `${base}:overflow${name}`,
  };
}

/** The beginning of names that one script uses: in a cluster they must be in one slot, that of the plain name. */
const together = ({ shardOf }: SignalKeys, name: string) => (shardOf && !hasTag(name) ? `{${name}}` : name);
/** Whether only a part of the name decides its slot. */
export const hasTag = (name: string): boolean => /\{[^}]+\}/.test(name);

export const turnKey = (keys: SignalKeys, name: string) => `${keys.jobs}:turn:${name}`;
/** By which a database recognizes its Redis. */
export const nonceKey = (keys: SignalKeys) => `${keys.jobs}:nonce`;
/** A rate limit's bucket. */
export const permitsKey = (keys: SignalKeys, name: string) => `${keys.jobs}:permits:${name}`;
export const deadLetterMembersKey = (keys: SignalKeys) => `${together(keys, keys.deadLetters)}:members`;
export const deadLetterCursorKey = (keys: SignalKeys) => `${together(keys, keys.deadLetters)}:cursor`;
export const noticeChannel = (keys: SignalKeys, topic: Topic) => `${keys.jobs}:notices:${topic}`;
/** The workers of a tenant, by their ids. */
export const workersKey = (keys: SignalKeys, tenant: string) =>
  `${together(keys, `${keys.jobs}:workers`)}${tenant === defaultTenant ? "" : `:tenant:${tenant}`}`;
/** Written now and then to learn whether Redis takes writes; `base` is `jobs`, or what a queue's keys begin with. */
export const probeKey = (base: string) => `${base}:probe`;
