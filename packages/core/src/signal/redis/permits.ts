import type { Permit, RateLimit } from "../token-bucket.ts";
import type { Available } from "./available.ts";
import { permitsKey, type SignalKeys } from "../keys.ts";
import type { ScriptedRedis } from "./commands.ts";

/**
 * KEYS: bucket. ARGV: limit, period in µs, then the cost of each wish. `drawPermits` on Redis' own clock, so that
 * processes with different clocks share one bucket; a full bucket has no key at all. Three numbers per wish: ms until
 * it can be met (0: it is), what remains, ms until the bucket is full again.
 */
export const drawScript = `
local limit, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'used', 'at')
local used = 0
if state[1] then used = math.max(0, state[1] - math.max(0, now - state[2]) * limit / period) end
local each, out = period / limit / 1000, {}
for i = 3, #ARGV do
  local missing = used + ARGV[i] - limit
  local wait = 0
  if missing <= 0.000001 then used = used + ARGV[i] else wait = math.max(1, math.ceil(missing * each)) end
  out[#out + 1] = wait
  out[#out + 1] = math.floor(limit - used + 0.000001)
  out[#out + 1] = math.ceil(used * each)
end
redis.call('HSET', KEYS[1], 'used', string.format('%.17g', used), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(used * each) + 1)
return out`;

/** Draws from the bucket shared by all processes. */
export function redisPermits(redis: ScriptedRedis, keys: SignalKeys, available: Available) {
  return async (name: string, costs: readonly number[], { limit, period_ms }: RateLimit): Promise<Permit[]> => {
    const bucket = permitsKey(keys, name);
    const numbers = await available(bucket, () =>
      redis.permitsDraw(bucket, limit, Math.round(period_ms * 1_000), ...costs),
    );
    return costs.map((_, at) => {
      const [retry_after_ms = 0, remaining = 0, reset_ms = 0] = numbers.slice(at * 3, at * 3 + 3);
      return { allowed: retry_after_ms === 0, remaining, reset_ms, retry_after_ms };
    });
  };
}
