import type { Notices, Topic } from "./signal.ts";

type Hear = (ids: readonly string[]) => void;
export type Listeners = {
  /** Notify the listeners in this process. */
  tell(topic: Topic, ids: readonly string[]): void;
  listen: Notices["listen"];
};

/** The listeners in this process, by topic. */
export function listeners(): Listeners {
  const hearing = new Map<Topic, Set<Hear>>();
  return {
    tell(topic, ids) {
      for (const hear of hearing.get(topic) ?? []) hear(ids);
    },
    listen(topic, hear) {
      const all = hearing.get(topic) ?? new Set<Hear>();
      hearing.set(topic, all.add(hear));
      return () => void all.delete(hear);
    },
  };
}

/** Notices within one process. */
export function memoryNotices(): Notices {
  const { tell, listen } = listeners();
  return { tell: async (topic, ids) => tell(topic, ids), listen };
}
