import type { Cluster, Redis } from "ioredis";
import type { ScriptedRedis } from "./commands.ts";
import { dialAnew, hangUp } from "./dial.ts";

type Kind = "blocking" | "subscriber";

/** For what holds up a connection: blocking pops, or a subscription. */
export type Opened = {
  redis: Redis;
  /** Ends the pop of the connection with this id, from a connection for commands to the same server. */
  unblock(id: number): Promise<unknown>;
};

/**
 * The connections to a Redis, be it one server, whichever is the master of a sentinels' set, or the masters of a
 * cluster.
 */
export type Servers = {
  /** For commands: in a cluster each goes to the server that has its keys. */
  commands: ScriptedRedis;
  /** The server that has a key; the same for all keys where there is one at a time. */
  serverOf(key: string): string;
  /** The keys with the same answer share a slot: a command may name them together. */
  slotOf(key: string): number;
  /** Whether there is a connection to the server that has a key. */
  connected(key: string): boolean;
  /** One key on each server that we write to. */
  probeKeys(): string[];
  /** What each server says about itself. */
  infos(): Promise<string[]>;
  /** Calls when the connection for commands to any server is lost. */
  onLost(lost: () => void): void;
  /**
   * A connection that follows a key from server to server. `ask` sends something over it at each beat, as its silence
   * means something only after a question.
   */
  open(kind: Kind, key: string, ask?: () => unknown): Opened;
  /** Dial everything anew. */
  redialAll(): void;
  /** Dial the opened connections anew. */
  redialOpened(): void;
  /** Keep alive and going what nobody else looks after; repeated every few seconds. */
  beat(): void;
  close(): void;
};

/** The connections opened besides those for commands. */
export function openedConnections() {
  const all: { redis: Redis; ask: (() => unknown) | undefined }[] = [];
  return {
    add(redis: Redis, ask: (() => unknown) | undefined): Redis {
      all.push({ redis, ask });
      return redis;
    },
    redial() {
      for (const { redis } of all) dialAnew(redis);
    },
    beat() {
      for (const { redis, ask } of all) {
        goOn(redis);
        ask?.();
      }
    },
    close() {
      for (const { redis } of all) hangUp(redis);
    },
  };
}

/** Not begun, or ended for good but not by us: the beat ends with `close`. */
export function goOn(redis: Redis | Cluster): void {
  if (redis.status === "wait" || redis.status === "end") redis.connect().catch(() => {});
}
