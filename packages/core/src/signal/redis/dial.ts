import { Redis } from "ioredis";
import type { ScriptedRedis } from "./commands.ts";
import { scripts } from "./scripts.ts";

/** A connection on which nothing came back for so long, though something was asked, is dead. */
const silence_ms_max = 2_000;
/** What a connection may take from its opening until it takes commands. */
const handshake_ms_max = 2_000;

export type DialOptions = {
  /** A command that has not answered by then has failed. Default: only the connection's silence ends it. */
  command_ms_max?: number | undefined;
  /** For blocking pops, which are silent by nature: whoever sends one watches it. */
  blocking?: boolean;
};

/**
 * A connection that is dialled again whenever it ends, and that ends itself when the other side is silent or takes no
 * writes: TCP alone would wait a quarter of an hour for the answer that was lost. No offline queue, no resending: a
 * command that cannot be sent now fails now, as its answer is only a hint.
 */
export function dial(url: string, options: DialOptions = {}): ScriptedRedis {
  const { command_ms_max, blocking = false } = options;
  const redis = new Redis(url, {
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries: number) => Math.min(tries * 50, 1_000),
    // A name may point to another server by now.
    reconnectOnError: (error: Error) => isReadOnly(error),
    // A farewell that is not answered is not waited for.
    disconnectTimeout: 100,
    keepAlive: 10_000,
    scripts,
    replyMapping: "legacy",
    commandTimeout: command_ms_max,
    socketTimeout: blocking ? undefined : Math.max(silence_ms_max, 2 * (command_ms_max ?? 0)),
  }) as ScriptedRedis;
  // Every failure is seen by the command that met it; without a listener ioredis prints them all.
  redis.on("error", () => {});
  hangUpWhenNotReady(redis);
  return redis;
}

/**
 * End the connection, so that it is dialled again. One that is being dialled is left alone: ioredis takes an order to
 * disconnect in that moment for the last one, and would never dial again.
 */
export function dialAnew(redis: Redis): void {
  if (redis.status === "ready" || redis.status === "connect") redis.disconnect(true);
}

/** A server that accepts and never speaks would be waited for without end. */
function hangUpWhenNotReady(redis: Redis): void {
  let timer: NodeJS.Timeout | undefined;
  redis.on("connect", () => {
    clearTimeout(timer);
    timer = setTimeout(() => dialAnew(redis), handshake_ms_max).unref();
  });
  for (const event of ["ready", "close", "end"]) redis.on(event, () => clearTimeout(timer));
}

/** The server is a replica by now. Redis 6 says so in the middle of what a script failed with. */
const isReadOnly = (error: Error) => error.message.includes("READONLY");
