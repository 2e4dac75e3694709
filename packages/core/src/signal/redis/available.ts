import type { Redis } from "ioredis";
import { SignalUnavailableError } from "../signal.ts";

/** Runs a command, or several, for keys on the same server as `key`; any failure means that it cannot be used now. */
export type Available = <T>(key: string, command: () => Promise<T>) => Promise<T>;

/** What the caller gets for any failed command. */
export function unavailable(error: unknown): SignalUnavailableError {
  return new SignalUnavailableError(error instanceof Error ? error.message : String(error), { cause: error });
}

/** The connection is ready, or `SignalUnavailableError` when it is not by the deadline. */
export function ready(redis: Redis, timeout_ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      clearTimeout(timer);
      redis.off("ready", end);
      stop.removeEventListener("abort", stopped);
      if (error instanceof Error) reject(error);
      else resolve();
    };
    const stopped = () => end();
    const timer = setTimeout(
      () => end(new SignalUnavailableError(`Redis was not ready in ${timeout_ms} ms`)),
      timeout_ms,
    );
    redis.once("ready", end);
    stop.addEventListener("abort", stopped, { once: true });
  });
}
