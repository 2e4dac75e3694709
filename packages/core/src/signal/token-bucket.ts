/** `limit` permits a period, refilled evenly; unused ones are available at once, up to a whole period's worth. */
export type RateLimit = { limit: number; period_ms: number };

/** The answer to one wish. `reset_ms` is until all permits are back, `retry_after_ms` until this wish can be met. */
export type Permit = { allowed: boolean; remaining: number; reset_ms: number; retry_after_ms: number };

/** How many permits were out at a moment. Unlike an expiry time it stays exact for limits of any size. */
export type BucketState = { used: number; at_ms: number };

/** Sums of fractions are off from a whole number by less than this. */
const rounding = 1e-6;

/**
 * The token bucket, for wishes in order: one that is too large now is refused and uses nothing, and a smaller one after
 * it may still be met. The script in `redis/permits.ts` does the same on Redis' clock.
 *
 * @example
 * const { state, permits } = drawPermits(undefined, now_ms, [1, 20], { limit: 100, period_ms: 60_000 });
 */
export function drawPermits(
  before: BucketState | undefined,
  now_ms: number,
  costs: readonly number[],
  { limit, period_ms }: RateLimit,
): { state: BucketState; permits: Permit[] } {
  const ms_each = period_ms / limit;
  const refilled = before ? Math.max(0, now_ms - before.at_ms) / ms_each : 0;
  let used = Math.max(0, (before?.used ?? 0) - refilled);
  const permits = costs.map((cost) => {
    const missing = used + cost - limit;
    const allowed = missing <= rounding;
    if (allowed) used = Math.max(0, used + cost);
    return {
      allowed,
      remaining: Math.floor(limit - used + rounding),
      reset_ms: Math.ceil(used * ms_each),
      retry_after_ms: allowed ? 0 : Math.ceil(missing * ms_each),
    };
  });
  return { state: { used, at_ms: now_ms }, permits };
}

/** A cost below zero gives permits back; a bucket never has more than its limit. */
export type LocalPermits = (name: string, costs: readonly number[], rate: RateLimit) => Permit[];

/** Beyond this many, buckets are searched for full ones, which need not be remembered. */
const buckets_max = 10_000;

/**
 * The buckets of one process. `now` is in ms and only has to move forward.
 *
 * @example
 * const draw = localPermits();
 * const [permit] = draw("tenant", [1], { limit: 100, period_ms: 1_000 });
 */
export function localPermits(now: () => number = () => performance.now()): LocalPermits {
  const buckets = new Map<string, BucketState & { full_at_ms: number }>();
  return (name, costs, rate) => {
    const now_ms = now();
    const { state, permits } = drawPermits(buckets.get(name), now_ms, costs, rate);
    if (buckets.size >= buckets_max && !buckets.has(name))
      for (const [other, { full_at_ms }] of buckets) if (full_at_ms <= now_ms) buckets.delete(other);
    buckets.set(name, { ...state, full_at_ms: now_ms + (state.used * rate.period_ms) / rate.limit });
    return permits;
  };
}
