import { batched } from "../batched.ts";
import type { RateLimiter } from "../http/context.ts";
import type { Observe, Signal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { localPermits, type Permit, type RateLimit } from "@atlasqueue/core/internal/http";

type Wish = { tenant: string; cost: number };

const batches = {
  /** In one call to Redis, which does nothing else meanwhile. */
  items_max: 500,
  fits: (first: Wish, wish: Wish) => first.tenant === wish.tenant,
  flights_max: 20,
};

/**
 * A rate limit per tenant, shared by all API processes through the signal. Wishes of a tenant that come
 * together share a call, so a busy tenant costs one call for many requests. While Redis is away each process grants the same
 * limit on its own: a limit must not become an outage.
 *
 * @example
 * const limiter = createRateLimiter({ signal, observe }, { limit: 100, period_ms: 60_000 });
 * const { allowed } = await limiter.take("default", 1);
 */
export function createRateLimiter(deps: { signal: Signal; observe: Observe }, rate: RateLimit): RateLimiter {
  const drawLocally = localPermits();
  let shared = true;

  const take = batched(batches, async (wishes: readonly Wish[]): Promise<readonly Permit[]> => {
    const tenant = wishes[0]?.tenant ?? "";
    const costs = wishes.map(({ cost }) => cost);
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
  });
  return { rate, take: (tenant, cost) => take({ tenant, cost: Math.min(cost, rate.limit) }) };
}
