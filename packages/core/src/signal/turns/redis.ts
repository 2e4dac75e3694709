import { queueKeys, type SignalKeys } from "../keys.ts";
import { rounds_max, type ReadyInGroup, type Signal } from "../signal.ts";
import type { Available } from "../redis/available.ts";
import type { ScriptedRedis } from "../redis/commands.ts";

/**
 * A job's place is a round: the one after its group's last, or the round that is being handed out, if that is later.
 * Each round has one job of each group, so nobody waits for more than one job of anybody else before each of their own.
 *
 * The jobs are in the set of prioritised ids, and the round is the fraction of the score, in steps of 2^-40: a thousand
 * billion rounds, before two of them would be one. Taking from the lists therefore needs to know nothing of it. Ids of
 * one round are in their own order, which is that of their age.
 *
 * KEYS: list, priorities, rounds. ARGV: length max, rounds max, then score, id and group of each job. A job that is there
 * keeps its place. What is known of a group is forgotten when its last round has been handed out: it could not get an
 * earlier place than a new one. (`ZADD … XX INCR 0` is ZSCORE, which the users that operators made may not call.)
 */
export const pushInTurnsScript = `
local step, added, current = 2 ^ -40, 0, {}
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[2])
for i = 3, #ARGV, 3 do
  local level, id, group = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i] .. ':' .. ARGV[i + 2]
  if room > 0 then
    if not current[level] then
      local first = redis.call('ZRANGE', KEYS[2], level, '(' .. (level + 1), 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
      current[level] = tonumber(first[2] or level)
      local passed
      repeat
        passed = redis.call('ZRANGE', KEYS[3], level, '(' .. (first[2] or level + 1), 'BYSCORE', 'LIMIT', 0, 1000)
        if #passed > 0 then redis.call('ZREM', KEYS[3], unpack(passed)) end
      until #passed == 0
    end
    local last = redis.call('ZADD', KEYS[3], 'XX', 'INCR', 0, group)
    local place = math.max(current[level], last and last + step or 0 - 2 ^ 20)
    local near = place - current[level] < tonumber(ARGV[2]) * step
    if near and redis.call('ZADD', KEYS[2], 'NX', place, id) == 1 then
      redis.call('ZADD', KEYS[3], place, group)
      added, room = added + 1, room - 1
    end
  end
end
if added > 0 then
  redis.call('EXPIRE', KEYS[3], 3600)
  for _ = 1, math.min(added, 100 - redis.call('LLEN', KEYS[1])) do redis.call('LPUSH', KEYS[1], 'wake') end
end
return added`;

/** KEYS: list, priorities, overflow, rounds. ARGV: 1 when groups take turns from now on. */
export const setTurnsScript = `
redis.call('DEL', unpack(KEYS))
if ARGV[1] == '1' then redis.call('SET', KEYS[3], 'turns') end
return 1`;

/** Each takes Redis a few milliseconds. */
const push_jobs_max = 500;

/** Groups that take turns, in Redis. */
export function redisTurns(
  commands: ScriptedRedis,
  keys: SignalKeys,
  available: Available,
  list_length_max: number,
): Pick<Signal, "pushInTurns" | "setTurns"> {
  const push = (jobs: readonly ReadyInGroup[]): Promise<number> => {
    const { list, priorities, rounds } = queueKeys(keys, jobs[0] as ReadyInGroup);
    // No group has an empty name.
    const words = jobs.flatMap(({ id, priority, group }) => [-priority, id, group ?? ""]);
    return available(list, () =>
      commands.signalPushInTurns(list, priorities, rounds, list_length_max, rounds_max, ...words),
    );
  };
  return {
    async pushInTurns(jobs) {
      let taken = 0;
      for (const queue of Map.groupBy(jobs, (job) => queueKeys(keys, job).list).values())
        for (let at = 0; at < queue.length; at += push_jobs_max)
          taken += await push(queue.slice(at, at + push_jobs_max));
      return taken;
    },
    async setTurns(queue, in_turns) {
      const { list, priorities, overflow, rounds } = queueKeys(keys, queue);
      await available(list, () => commands.signalSetTurns(list, priorities, overflow, rounds, in_turns ? 1 : 0));
    },
  };
}
