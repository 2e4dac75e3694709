import { pause } from "@atlasqueue/core/internal";
import type { Access } from "../../http/context.ts";

/**
 * Waits until the tenant's rate limit allows so many lines, or `stop` aborts. A request is refused when there are no
 * permits left; a stream is read more slowly.
 */
export async function waitForPermits(
  { limiter, observe }: Access,
  tenant: string,
  lines: number,
  stop: AbortSignal,
): Promise<void> {
  while (limiter && !stop.aborted) {
    const permit = await limiter.take(tenant, lines);
    if (permit.allowed) return;
    observe({ event: "rate_limited", tenant });
    await pause(permit.retry_after_ms, stop);
  }
}
