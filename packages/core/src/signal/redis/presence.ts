import type { Available } from "./available.ts";
import { workersKey, type SignalKeys } from "../keys.ts";
import {
  allTenants,
  byId,
  presence_ttl_ms,
  shortened,
  workerFacts,
  workers_max,
  type Presence,
  type SeenWorker,
} from "../presence.ts";
import type { ScriptedRedis } from "./commands.ts";

/** KEYS: workers of the tenant. ARGV: id, record, workers max. On Redis' clock, as those of processes differ. */
export const announceScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], 86400000)
return 1`;

/**
 * KEYS: workers of a tenant. ARGV: silent for ms. The records of those heard from; the others are removed. One heard
 * later than now was heard before Redis' clock was set back: if it is alive, it is about to be heard again.
 */
export const listScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all, out = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local at = tonumber(string.match(all[i + 1], '^%d+'))
  if at and math.abs(now - at) < tonumber(ARGV[1]) then out[#out + 1] = all[i + 1]
  else redis.call('HDEL', KEYS[1], all[i]) end
end
return out`;

/** Workers as a hash per tenant. */
export function redisPresence(redis: ScriptedRedis, keys: SignalKeys, available: Available): Presence {
  return {
    async announce(worker) {
      const { tenant, ...facts } = shortened(worker);
      const key = workersKey(keys, tenant);
      await available(key, () => redis.workersAnnounce(key, facts.id, JSON.stringify(facts), workers_max));
    },
    async withdraw({ tenant, id }) {
      const key = workersKey(keys, tenant);
      await available(key, () => redis.hdel(key, id));
    },
    async list(tenant) {
      const own = workersKey(keys, tenant);
      const lists = await available(own, () =>
        Promise.all([own, workersKey(keys, allTenants)].map((key) => redis.workersList(key, presence_ttl_ms))),
      );
      return lists
        .flat()
        .flatMap((entry) => read(tenant, entry) ?? [])
        .sort(byId);
    },
  };
}

function read(tenant: string, entry: string): SeenWorker | undefined {
  const space = entry.indexOf(" ");
  const last_seen = new Date(Number(entry.slice(0, space)));
  const parsed = workerFacts.safeParse(parseJson(entry.slice(space + 1)));
  if (!parsed.success || Number.isNaN(last_seen.getTime())) return undefined;
  return { tenant, last_seen, ...parsed.data };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
