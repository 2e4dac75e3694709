import type { RateLimiter } from "../http/context.ts";
import type { Observe, Signal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { localPermits, type Permit, type RateLimit } from "@atlasqueue/core/internal/http";

type Wish = { cost: number; resolve(permit: Permit): void; reject(error: unknown): void };

/** The most wishes in one call to Redis, which does nothing else meanwhile. */
const wishes_max = 500;

/**
 * A rate limit per tenant, shared by all API processes through the signal. Wishes that come while a call for the same
 * tenant is under way share the next one, so a busy tenant costs one call for many requests, and an idle one never
 * waits. While Redis is away each process grants the same limit on its own: a limit must not become an outage.
 *
 * @example
 * const limiter = createRateLimiter({ signal, observe }, { limit: 100, period_ms: 60_000 });
 * const { allowed } = await limiter.take("default", 1);
 */
export function createRateLimiter(deps: { signal: Signal; observe: Observe }, rate: RateLimit): RateLimiter {
  const waiting = new Map<string, Wish[]>();
  const drawLocally = localPermits();
  let shared = true;

  const draw = async (tenant: string, costs: number[]): Promise<Permit[]> => {
    try {
      const permits = await deps.signal.takePermits(tenant, costs, rate);
      shared = true;
      return permits;
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) throw error;
      if (shared) deps.observe({ event: "rate_limit_degraded", error: error.message });
      shared = false;
      return drawLocally(tenant, costs, rate);
    }
  };

  const drawAll = async (tenant: string, wishes: Wish[]): Promise<void> => {
    while (wishes.length > 0) {
      const batch = wishes.splice(0, wishes_max);
      try {
        const costs = batch.map((wish) => wish.cost);
        const permits = await draw(tenant, costs);
        batch.forEach((wish, at) => wish.resolve(permits[at] as Permit));
      } catch (error) {
        for (const wish of batch) wish.reject(error);
      }
    }
    waiting.delete(tenant);
  };

  return {
    rate,
    take: (tenant, cost) =>
      new Promise((resolve, reject) => {
        const wish = { cost: Math.min(cost, rate.limit), resolve, reject };
        const wishes = waiting.get(tenant);
        if (wishes) return void wishes.push(wish);
        const first = [wish];
        waiting.set(tenant, first);
        // After this turn of the event loop: requests that came together go together.
        setImmediate(() => void drawAll(tenant, first));
      }),
  };
}
