import { deadLetterCursorKey, deadLetterMembersKey, type SignalKeys } from "../keys.ts";
import type { Available } from "./available.ts";
import type { ScriptedRedis } from "./commands.ts";
import type { DeadLetterList } from "../signal.ts";

/** The dead letters as a Redis list of ids, newest first, with a set that keeps each id unique. */
export function redisDeadLetters(redis: ScriptedRedis, keys: SignalKeys, available: Available): DeadLetterList {
  const list = keys.deadLetters;
  const members = deadLetterMembersKey(keys);
  const cursor = deadLetterCursorKey(keys);

  /** Goes over the list from its old end, where those leaving are, a stretch at a time, until none is left. */
  const removeMany = async (ids: readonly string[]): Promise<number> => {
    let removed = 0;
    for (let pass = 0; pass < passes_max; pass += 1)
      for (let kept = 0, more = true; more;) {
        const from = kept;
        const [gone, seen] = await available(list, () =>
          redis.deadLettersRemoveFrom(list, members, from, stretch_ids_max, ...ids),
        );
        removed += gone;
        kept += seen - gone;
        more = seen > 0;
      }
    return removed;
  };

  return {
    add: (ids) =>
      inParts(ids, added_max, (part) => available(list, () => redis.deadLettersAdd(list, members, ...part))),
    remove: (ids) =>
      ids.length <= searched_max
        ? ids.length === 0
          ? Promise.resolve(0)
          : available(list, () => redis.deadLettersRemove(list, members, ...ids))
        : inParts(ids, added_max, removeMany),
    page: (offset, ids_max) => available(list, () => redis.lrange(list, offset, offset + ids_max - 1)),
    async look() {
      const [length, known, at] = await available(list, () => redis.deadLettersLook(list, members, cursor));
      return { length, consistent: length === known, cursor: at ?? undefined };
    },
    async carryOn(ids, from, to) {
      const added = await available(list, () =>
        redis.deadLettersCarryOn(list, members, cursor, from ?? "", to, ...ids),
      );
      return added === -1 ? "elsewhere" : added;
    },
    async clear() {
      await available(list, () => redis.del(list, members, cursor));
    },
  };
}

const added_max = 500;
/** Searching for one id may read the whole list, 1 ms per 100,000, and Redis does nothing else meanwhile. */
const searched_max = 10;
/** Ids looked at in one script, for the same reason. */
const stretch_ids_max = 1_000;
/** A concurrent removal moves what is left of the removed ids: look once more. */
const passes_max = 2;

async function inParts(
  ids: readonly string[],
  part_max: number,
  change: (part: readonly string[]) => Promise<number>,
): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += part_max) changed += await change(ids.slice(at, at + part_max));
  return changed;
}
