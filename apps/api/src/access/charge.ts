import type { Observe } from "@atlasqueue/core";
import type { localPermits, Permit, RateLimit } from "@atlasqueue/core/internal/http";
import type { Access, ApiContext, RateLimiter } from "../http/context.ts";
import { temporary, type ProblemError } from "../http/answers/problem.ts";
import { networkOf } from "../http/input/address.ts";

/**
 * Take permits from the caller's tenant for a request. Its answer, even a refusal, says what remains. Throws
 * `rate_limited` when there are not enough.
 */
export async function charge(
  c: ApiContext,
  limiter: RateLimiter,
  observe: Observe,
  tenant: string,
  cost: number,
): Promise<void> {
  const permit = await limiter.take(tenant, cost);
  c.set("limit_headers", limitHeaders(limiter.rate, permit));
  if (permit.allowed) return;
  observe({ event: "rate_limited", tenant });
  throw rateLimited(limiter.rate, permit);
}

/** What may fail, and how often for each network that requests come from. */
type Attempts = { what: string; throttled: "sign_in_throttled" | "provision_throttled"; rate: RateLimit };

/** Count a failure against the network of its request. Throws `rate_limited` when it had too many. */
export function countFailure(c: ApiContext, deps: Failing, { what, throttled, rate }: Attempts): void {
  const network = networkOf(c);
  const [permit] = deps.networkPermits(`${throttled} ${network}`, [1], rate);
  if (permit?.allowed) return;
  deps.observe({ event: throttled, network });
  const seconds_left = (permit?.retry_after_ms ?? rate.period_ms) / 1_000;
  throw temporary("rate_limited", `Too many ${what} from this address; try again later`, seconds_left);
}
type Failing = { networkPermits: ReturnType<typeof localPermits>; observe: Observe };

/** The tenant has no permits left. */
export function rateLimited({ limit, period_ms }: RateLimit, { retry_after_ms }: Permit): ProblemError {
  const detail = `The tenant may make ${limit} requests in ${period_ms / 1_000} s`;
  return temporary("rate_limited", detail, retry_after_ms / 1_000);
}

/**
 * A request with many jobs costs one permit per job, including the one it paid when it came; never more than there can
 * be.
 *
 * @example
 * await chargeMore(c, access, body.jobs.length);
 */
export async function chargeMore(c: ApiContext, { limiter, observe }: Access, permits: number): Promise<void> {
  const tenant = c.get("caller")?.tenant;
  if (!limiter || tenant === undefined) return;
  const more = Math.min(permits, limiter.rate.limit) - 1;
  if (more > 0) await charge(c, limiter, observe, tenant, more);
}

/** draft-ietf-httpapi-ratelimit-headers-09: q permits in w seconds; r are left, and all are back in t seconds. */
function limitHeaders({ limit, period_ms }: RateLimit, { remaining, reset_ms }: Permit): Record<string, string> {
  return {
    "ratelimit-policy": `"default";q=${limit};w=${seconds(period_ms)}`,
    ratelimit: `"default";r=${remaining};t=${seconds(reset_ms)}`,
  };
}

const seconds = (ms: number) => Math.ceil(ms / 1_000);
