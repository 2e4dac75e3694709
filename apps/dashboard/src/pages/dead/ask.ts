import type { DeadGroup, Replay } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { refresh_ms, slow_refresh_ms } from "../../api/refresh.ts";

export const groupsKey = ["dead-groups"] as const;
export const replaysKey = ["replays"] as const;

const groups_max = 200;

/** Groups by type and error, so many pages of them, the largest first. */
export function useGroups(type: string | undefined, pages: number) {
  return useLive<{ items: DeadGroup[]; more: boolean }>({
    key: [...groupsKey, type, pages],
    ask: async (signal) => {
      const items: DeadGroup[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < pages && cursor !== null; page += 1) {
        const filter = { ...(type ? { type } : {}), ...(cursor ? { cursor } : {}), limit: groups_max };
        const answer = await client.deadLetters.groups(filter, { signal });
        items.push(...answer.items);
        cursor = answer.next_cursor;
      }
      return { items: items.toSorted((a, b) => b.count - a.count), more: cursor !== null };
    },
    every_ms: slow_refresh_ms,
    keep: true,
  });
}

/** The replays under way, and those that ended last. */
export function useReplays() {
  return useLive<Replay[]>({
    key: replaysKey,
    ask: async (signal) => (await client.deadLetters.replays.list({ limit: 10 }, { signal })).items,
    every_ms: refresh_ms,
  });
}
