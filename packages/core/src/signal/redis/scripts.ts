import { drawScript } from "./permits.ts";
import { announceScript, listScript } from "./presence.ts";

/** Of a marked queue: puts an id in its list unless there is one, and says how many it put in; false for any other. */
const pushMark = `
local function mark(id)
  if redis.call('GET', KEYS[3]) ~= 'mark' then return false end
  if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
  redis.call('LPUSH', KEYS[1], id)
  return 1
end`;

/** KEYS: list, priorities, overflow. ARGV: 1 when it is marked from now on. */
const setMarked = `
redis.call('DEL', unpack(KEYS))
if ARGV[1] == '1' then redis.call('SET', KEYS[3], 'mark') end
return 1`;

/**
 * KEYS: list, priorities, overflow. ARGV: list length max, n, n ids, then score and id of each prioritised job.
 * The left end of the list is the newest. A full list takes nothing until the sweep has emptied and refilled it;
 * otherwise newer jobs would run before those that were dropped. That of a marked queue has one id for all.
 */
const push = `${pushMark}
local max, n = tonumber(ARGV[1]), tonumber(ARGV[2])
local prioritised = (#ARGV - 2 - n) / 2
if mark(ARGV[n > 0 and 3 or 4]) then return n + prioritised end
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
if redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]) + n + prioritised > max then
  redis.call('SET', KEYS[3], '1')
  return 0
end
if n > 0 then redis.call('LPUSH', KEYS[1], unpack(ARGV, 3, 2 + n)) end
if prioritised > 0 then
  redis.call('ZADD', KEYS[2], unpack(ARGV, 3 + n))
  for _ = 1, math.min(prioritised, 100) do redis.call('LPUSH', KEYS[1], 'wake') end
end
return n + prioritised`;

/**
 * While there are prioritised ids the list must not be empty, as only the list wakes a waiting worker: there are fewer
 * marks than such ids, and taking from the list takes out marks as well.
 */
const keepMark = `
if redis.call('ZCARD', KEYS[2]) > 0 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('LPUSH', KEYS[1], 'wake') end`;

/** KEYS: list, priorities, overflow. ARGV: n, n ids with the next one last, then score and id of each prioritised job. Returns how many were not there yet. */
const pushFront = `${pushMark}
local n = tonumber(ARGV[1])
local marked = mark(ARGV[n > 0 and 1 + n or 3])
if marked then return marked end
if n > 0 then redis.call('RPUSH', KEYS[1], unpack(ARGV, 2, 1 + n)) end
local missing = 0
if #ARGV > 1 + n then
  missing = redis.call('ZADD', KEYS[2], 'NX', unpack(ARGV, 2 + n))
  if missing > 0 then redis.call('LPUSH', KEYS[1], 'wake') end
end${keepMark}
return n + missing`;

/** KEYS: list, priorities. ARGV: n. Priorities above 0, then the list from its old end, then priorities below 0. */
const take = `
local n, out = tonumber(ARGV[1]), {}
local function add(ids) for i = 1, #ids do out[#out + 1] = ids[i] end end
local urgent = redis.call('ZRANGE', KEYS[2], '-inf', '(0', 'BYSCORE', 'LIMIT', 0, n)
if #urgent > 0 then redis.call('ZREM', KEYS[2], unpack(urgent)) add(urgent) end
while #out < n do
  local ids = redis.call('RPOP', KEYS[1], n - #out)
  if not ids then break end
  for i = 1, #ids do if ids[i] ~= 'wake' then out[#out + 1] = ids[i] end end
end
if #out < n then
  local late = redis.call('ZRANGE', KEYS[2], 0, n - #out - 1)
  if #late > 0 then redis.call('ZREM', KEYS[2], unpack(late)) add(late) end
end${keepMark}
return out`;

/** The ids of ARGV from `first` on. The set makes "once each" a constant-time check. */
const addFrom = (first: number) => `
local added = 0
for i = ${first}, #ARGV do
  if redis.call('SADD', KEYS[2], ARGV[i]) == 1 then redis.call('LPUSH', KEYS[1], ARGV[i]) added = added + 1 end
end`;

/** KEYS: list, members. ARGV: ids. */
const addDeadLetters = `${addFrom(1)}
return added`;

/** KEYS: list, members, cursor. In one command, as an idle system asks again and again. */
const lookAtDeadLetters = `return { redis.call('LLEN', KEYS[1]), redis.call('SCARD', KEYS[2]), redis.call('GET', KEYS[3]) }`;

/** KEYS: list, members, cursor. ARGV: where the cursor is ("" for nowhere), where it goes, ids. -1: it is elsewhere. */
const carryOnDeadLetters = `
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[1] then return -1 end${addFrom(3)}
redis.call('SET', KEYS[3], ARGV[2])
return added`;

/**
 * KEYS: list, members. ARGV: how far from the right end, how many, ids. Takes those ids out of that stretch, and returns
 * how many they were and how many it looked at: none when none of them is in the list. Each is marked in place, then all
 * marks go in one pass from the right end: searching for each separately would read the list as many times.
 */
const removeFrom = `
local known, leaving, gone = redis.call('SMISMEMBER', KEYS[2], unpack(ARGV, 3)), {}, {}
for i = 1, #known do
  if known[i] == 1 then leaving[ARGV[i + 2]] = true end
end
if next(leaving) == nil then return { 0, 0 } end
local from = tonumber(ARGV[1])
local page = redis.call('LRANGE', KEYS[1], -from - tonumber(ARGV[2]), -from - 1)
for i = 1, #page do
  if leaving[page[i]] then
    redis.call('LSET', KEYS[1], -from - #page + i - 1, 'leaving')
    gone[#gone + 1] = page[i]
  end
end
if #gone > 0 then
  redis.call('LREM', KEYS[1], -#gone, 'leaving')
  redis.call('SREM', KEYS[2], unpack(gone))
end
return { #gone, #page }`;

/**
 * KEYS: list, members. ARGV: a few ids, as each is searched for separately, from the right end, where the oldest are.
 */
const removeDeadLetters = `
local removed = 0
for i = 1, #ARGV do
  removed = removed + redis.call('LREM', KEYS[1], -1, ARGV[i])
  redis.call('SREM', KEYS[2], ARGV[i])
end
return removed`;

/**
 * KEYS: turn. ARGV: milliseconds. Redis keeps the time at which a key ends, so a clock set back would keep the turn from
 * everyone for as long as it was set back by: no turn has longer than its period.
 */
const turn = `
if redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX') then return 1 end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 0`;

/** KEYS: nonce. ARGV: milliseconds, nonces. Writes the first, unless what is there is none of them. */
const nonce = `
local found, known = redis.call('GET', KEYS[1]), false
for i = 2, #ARGV do known = known or ARGV[i] == found end
if found and not known then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return 1`;

/** Called by digest, and sent whole again by the client when Redis has forgotten them. */
export const scripts = {
  signalPush: { lua: push, numberOfKeys: 3 },
  signalPushFront: { lua: pushFront, numberOfKeys: 3 },
  signalSetMarked: { lua: setMarked, numberOfKeys: 3 },
  signalTake: { lua: take, numberOfKeys: 2 },
  deadLettersAdd: { lua: addDeadLetters, numberOfKeys: 2 },
  deadLettersLook: { lua: lookAtDeadLetters, numberOfKeys: 3 },
  deadLettersCarryOn: { lua: carryOnDeadLetters, numberOfKeys: 3 },
  deadLettersRemoveFrom: { lua: removeFrom, numberOfKeys: 2 },
  deadLettersRemove: { lua: removeDeadLetters, numberOfKeys: 2 },
  permitsDraw: { lua: drawScript, numberOfKeys: 1 },
  workersAnnounce: { lua: announceScript, numberOfKeys: 1 },
  workersList: { lua: listScript, numberOfKeys: 1 },
  signalNonce: { lua: nonce, numberOfKeys: 1 },
  signalTurn: { lua: turn, numberOfKeys: 1 },
};
