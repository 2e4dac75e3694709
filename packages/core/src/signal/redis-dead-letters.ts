import { deadLetterCursorKey, deadLetterMembersKey, type SignalKeys } from "./keys.ts";
import type { Available } from "./redis.ts";
import type { ScriptedRedis } from "./redis-scripts.ts";
import type { DeadLetterList } from "./signal.ts";

/** The dead letters as a Redis list of ids, newest first, with a set beside it that keeps each id in it once. */
export function redisDeadLetters(redis: ScriptedRedis, keys: SignalKeys, available: Available): DeadLetterList {
  const list = keys.dead_letters;
  const members = deadLetterMembersKey(keys);
  const cursor = deadLetterCursorKey(keys);
  return {
    add: async (ids) => (ids.length === 0 ? 0 : available(() => redis.deadLettersAdd(list, members, ...ids))),
    remove: async (ids) => (ids.length === 0 ? 0 : available(() => redis.deadLettersRemove(list, members, ...ids))),
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
