import { Redis } from "ioredis";
import type { ScriptedRedis } from "./commands.ts";
import { scripts } from "./scripts.ts";

/** A connection on which nothing came back for this long, although something was asked, is dead. */
const silence_ms_max = 2_000;
/** How long a connection may take from being opened to accepting commands. */
const handshake_ms_max = 2_000;

export type DialOptions = {
  /** A command that has not answered by then has failed. Default: only the connection's silence ends it. */
  command_ms_max?: number | undefined;
  /** For blocking pops, which are silent by nature: their sender watches them. */
  blocking?: boolean;
};

/**
 * A connection that is redialled whenever it ends, and that ends itself when the other side is silent or takes no
 * writes: TCP alone would wait a quarter of an hour for a lost answer. No offline queue, no resending: a command that
 * cannot be sent now fails now, as its answer is only a hint.
 */
export function dial(url: string, options: DialOptions = {}): ScriptedRedis {
  const { command_ms_max, blocking = false } = options;
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // The subscriber does it itself (`notices.ts`): when the connection is lost again at that very moment, ioredis
    // leaves its own subscription's rejection to nobody, and Node ends the process.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries: number) => Math.min(tries * 50, 1_000),
    // A name may point to another server by now.
    reconnectOnError: (error: Error) => isReadOnly(error),
    // Do not wait for an answer to the farewell.
    disconnectTimeout: 100,
    keepAlive: 10_000,
    scripts,
    replyMapping: "legacy",
    commandTimeout: command_ms_max,
    socketTimeout: blocking ? undefined : Math.max(silence_ms_max, 2 * (command_ms_max ?? 0)),
  }) as ScriptedRedis;
  // Each failure reaches the command that met it; without a listener ioredis prints them all.
  redis.on("error", () => {});
  hangUpWhenNotReady(redis);
  return redis;
}

/**
 * End the connection, so that it is redialled. One that is being dialled is left alone: ioredis would take a disconnect
 * at that moment as final, and never dial again.
 */
export function dialAnew(redis: Redis): void {
  if (redis.status === "ready" || redis.status === "connect") redis.disconnect(true);
}

/** Otherwise a server that accepts and never speaks would be waited for forever. */
function hangUpWhenNotReady(redis: Redis): void {
  let timer: NodeJS.Timeout | undefined;
  redis.on("connect", () => {
    clearTimeout(timer);
    timer = setTimeout(() => dialAnew(redis), handshake_ms_max).unref();
  });
  for (const event of ["ready", "close", "end"]) redis.on(event, () => clearTimeout(timer));
}

/** The server has become a replica. Redis 6 says so in the middle of a script's error. */
const isReadOnly = (error: Error) => error.message.includes("READONLY");
