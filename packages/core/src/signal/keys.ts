import { defaultTenant, type QueueRef } from "../deps.ts";
import type { Topic } from "./signal.ts";

/** The two names an operator chooses; a hash tag in them keeps all keys in one slot of a Redis Cluster. */
export type SignalKeys = { jobs: string; dead_letters: string };

export const defaultKeys: SignalKeys = { jobs: "atlasqueue:jobs", dead_letters: "atlasqueue:dlq" };

/** The keys of one queue. A key's purpose comes before the queue's name, so that no name can be another's key. */
export type QueueKeys = {
  /** Ids of ordinary priority. The default tenant's default queue has the plain name. */
  list: string;
  /** Ids whose priority is not 0, sorted by it. */
  priorities: string;
  /** Present while ids of the queue are missing from a full list. */
  overflow: string;
};

/** @example queueKeys(defaultKeys, { tenant: "default", queue: "mail" }).list; // "atlasqueue:jobs:queue:mail" */
export function queueKeys({ jobs }: SignalKeys, { tenant, queue }: QueueRef): QueueKeys {
  const name =
    tenant === defaultTenant ? (queue === "default" ? "" : `:queue:${queue}`) : `:tenant:${tenant}:queue:${queue}`;
  return { list: `${jobs}${name}`, priorities: `${jobs}:priority${name}`, overflow: `${jobs}:overflow${name}` };
}

export const turnKey = (keys: SignalKeys, name: string) => `${keys.jobs}:turn:${name}`;
/** A rate limit's bucket. */
export const permitsKey = (keys: SignalKeys, name: string) => `${keys.jobs}:permits:${name}`;
export const deadLetterMembersKey = (keys: SignalKeys) => `${keys.dead_letters}:members`;
/** What one call is about to take out of the list of dead letters. */
export const deadLetterLeavingKey = (keys: SignalKeys, call: string) => `${keys.dead_letters}:leaving:${call}`;
export const deadLetterCursorKey = (keys: SignalKeys) => `${keys.dead_letters}:cursor`;
export const noticeChannel = (keys: SignalKeys, topic: Topic) => `${keys.jobs}:notices:${topic}`;
/** The workers of a tenant, by their ids. */
export const workersKey = (keys: SignalKeys, tenant: string) =>
  tenant === defaultTenant ? `${keys.jobs}:workers` : `${keys.jobs}:workers:tenant:${tenant}`;
/** All workers, by when they were last heard from. */
export const workersSeenKey = (keys: SignalKeys) => `${keys.jobs}:workers-seen`;
/** Written now and then to learn whether Redis takes writes. */
export const probeKey = (keys: SignalKeys) => `${keys.jobs}:probe`;
/** Where something foreign found under one of our keys is moved. */
export const setAsideKey = (keys: SignalKeys, key: string) => `${keys.jobs}:set-aside:${key}`;

/** What one of our keys holds; undefined for any other. */
export function keyType(keys: SignalKeys, key: string): "list" | "zset" | "set" | "hash" | "string" | undefined {
  if (key === keys.dead_letters || key === keys.jobs) return "list";
  if (key === deadLetterCursorKey(keys)) return "string";
  if (key === deadLetterMembersKey(keys) || key.startsWith(deadLetterLeavingKey(keys, ""))) return "set";
  if (!key.startsWith(`${keys.jobs}:`)) return undefined;
  switch (key.slice(keys.jobs.length + 1).split(":")[0]) {
    case "queue":
    case "tenant":
      return "list";
    case "priority":
    case "workers-seen":
      return "zset";
    case "workers":
    case "permits":
      return "hash";
    default:
      return undefined;
  }
}
