import type { Notices, Topic } from "./signal.ts";

/** Notices within one process. */
export function memoryNotices(): Notices {
  const hearing = new Map<Topic, Set<(ids: readonly string[]) => void>>();
  return {
    async tell(topic, ids) {
      for (const hear of hearing.get(topic) ?? []) hear(ids);
    },
    listen(topic, hear) {
      const all = hearing.get(topic) ?? new Set();
      hearing.set(topic, all.add(hear));
      return () => void all.delete(hear);
    },
  };
}
