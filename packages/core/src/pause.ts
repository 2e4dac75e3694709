import { setTimeout as delay } from "node:timers/promises";

/** Wait at most `ms`, or until the signal aborts. Never rejects. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stop }).catch(() => {});
}
