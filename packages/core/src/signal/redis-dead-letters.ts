import { deadLetterCursorKey, deadLetterMembersKey, type SignalKeys } from "./keys.ts";
import type { Available } from "./available.ts";
import type { ScriptedRedis } from "./redis-scripts.ts";
import type { DeadLetterList } from "./signal.ts";

/** The dead letters as a Redis list of ids, newest first, with a set beside it that keeps each id in it once. */
export function redisDeadLetters(redis: ScriptedRedis, keys: SignalKeys, available: Available): DeadLetterList {
  const list = keys.dead_letters;
  const members = deadLetterMembersKey(keys);
  const cursor = deadLetterCursorKey(keys);
  return {
    add: (ids) => inParts(ids, added_max, (part) => available(() => redis.deadLettersAdd(list, members, ...part))),
    remove: (ids) =>
      inParts(ids, removed_max, (part) => available(() => redis.deadLettersRemove(list, members, ...part))),
    page: (offset, ids_max) => available(() => redis.lrange(list, offset, offset + ids_max - 1)),
    async look() {
      const [length, known, at] = await available(() =>
        Promise.all([redis.llen(list), redis.scard(members), redis.get(cursor)]),
      );
      return { length, consistent: length === known, cursor: at ?? undefined };
    },
    async setCursor(value) {
      await available(() => redis.set(cursor, value));
    },
    async clear() {
      await available(() => redis.del(list, members, cursor));
    },
  };
}

const added_max = 500;
/** Removing an id may search the whole list, and Redis does nothing else meanwhile. */
const removed_max = 10;

async function inParts(
  ids: readonly string[],
  part_max: number,
  change: (part: readonly string[]) => Promise<number>,
): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += part_max) changed += await change(ids.slice(at, at + part_max));
  return changed;
}
