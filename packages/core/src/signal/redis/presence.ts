import { z } from "zod";
import type { Available } from "./available.ts";
import { workersKey, workersSeenKey, type SignalKeys } from "../keys.ts";
import {
  allTenants,
  byId,
  presence_ttl_ms,
  shortened,
  workers_max,
  type Presence,
  type SeenWorker,
  type WorkerRef,
} from "../presence.ts";
import { isGone, ownMark, processMark } from "../process-mark.ts";
import type { ScriptedRedis } from "./commands.ts";

/** KEYS: seen, workers of the tenant. ARGV: member, id, record, workers max. On Redis' clock, as those of processes differ. */
export const announceScript = `
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[2], ARGV[2], now .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], 86400000)
redis.call('PEXPIRE', KEYS[2], 86400000)
return 1`;

/** KEYS: workers of a tenant. The time in ms, then their records. */
export const listScript = `
local time = redis.call('TIME')
local out = redis.call('HVALS', KEYS[1])
table.insert(out, 1, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return out`;

/** KEYS: seen. ARGV: silent for ms, how many to pass over, max. The time in ms, then the members silent for that long. */
export const silentScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local out = redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1]), 'BYSCORE', 'LIMIT', ARGV[2], ARGV[3])
table.insert(out, 1, string.format('%.0f', now))
return out`;

/** Looked at in one call; the next call goes on behind them, and then starts over. */
const silent_max = 500;
/** Past its lease a silent worker holds nothing: this long after, it is forgotten. */
const forget_after_lease_ms = 60_000;

/** What is stored of a worker. Untrusted, like all that comes out of Redis. */
const record = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  queues: z.array(z.string()),
  handlers: z.array(z.string()),
  concurrency: z.int(),
  active: z.int(),
  state: z.enum(["running", "draining", "stuck"]),
  lease_seconds: z.number(),
  process: processMark.nullish(),
});
type Stored = SeenWorker & Pick<z.infer<typeof record>, "process">;

/** Workers as a hash per tenant, and one sorted set by when each was last heard from. */
export function redisPresence(redis: ScriptedRedis, keys: SignalKeys, available: Available): Presence {
  const seen = workersSeenKey(keys);
  const memberOf = ({ tenant, id }: WorkerRef) => JSON.stringify([tenant, id]);

  const own = ownMark();
  let passed = 0;

  const withdraw = async (worker: WorkerRef): Promise<void> => {
    await available(seen, () =>
      Promise.all([redis.zrem(seen, memberOf(worker)), redis.hdel(workersKey(keys, worker.tenant), worker.id)]),
    );
  };

  return {
    async announce(worker) {
      const { tenant, ...facts } = shortened(worker);
      await available(seen, async () => {
        const text = JSON.stringify({ ...facts, process: own });
        await redis.workersAnnounce(seen, workersKey(keys, tenant), memberOf(worker), facts.id, text, workers_max);
      });
    },
    withdraw,
    async list(tenant) {
      const lists = await available(seen, () =>
        Promise.all([tenant, allTenants].map((of) => redis.workersList(workersKey(keys, of)))),
      );
      return lists
        .flatMap(([now, ...entries]) =>
          entries
            .flatMap((entry) => read(tenant, entry) ?? [])
            // Later than now: heard before Redis' clock was set back. If it is alive, it is about to be heard again.
            .filter(({ last_seen }) => Math.abs(Number(now) - last_seen.getTime()) < presence_ttl_ms),
        )
        .map(({ process: _process, ...worker }) => worker)
        .sort(byId);
    },
    async vanished() {
      const [now, ...members] = await available(seen, () =>
        redis.workersSilent(seen, presence_ttl_ms, passed, silent_max),
      );
      passed = members.length < silent_max ? 0 : passed + silent_max;
      if (members.length === 0) return [];
      const silent = (await Promise.all(members.map(find))).filter((worker) => worker !== undefined);
      for (const worker of silent)
        if (Number(now) - worker.last_seen.getTime() > worker.lease_seconds * 1_000 + forget_after_lease_ms)
          await withdraw(worker);
      return silent
        .filter((worker) => worker.process && isGone(worker.process, own))
        .map(({ tenant, id, lease_seconds }) => ({ tenant, id, lease_seconds }));
    },
  };

  async function find(member: string): Promise<Stored | undefined> {
    const parsed = z.tuple([z.string(), z.string()]).safeParse(parseJson(member));
    const [tenant, id] = parsed.data ?? ["", ""];
    const entry = parsed.success ? await available(seen, () => redis.hget(workersKey(keys, tenant), id)) : null;
    const found = entry === null ? undefined : read(tenant, entry);
    if (!found) await available(seen, () => redis.zrem(seen, member));
    return found;
  }
}

function read(tenant: string, entry: string): Stored | undefined {
  const space = entry.indexOf(" ");
  const last_seen = new Date(Number(entry.slice(0, space)));
  const parsed = record.safeParse(parseJson(entry.slice(space + 1)));
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
