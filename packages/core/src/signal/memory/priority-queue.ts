import type { ReadyJob } from "../signal.ts";

export type PriorityQueue = {
  /** False when the job is already there. */
  add(job: ReadyJob): boolean;
  /** Up to that many ids with at least that priority, highest first, and oldest first within a priority. */
  take(ids_max: number, priority_min: number): string[];
  length(): number;
};

/** Jobs by priority: a list of ids for each priority in use, as there are few priorities and many jobs. */
export function priorityQueue(): PriorityQueue {
  const lists = new Map<number, string[]>();
  const known = new Set<string>();
  return {
    add({ id, priority }) {
      if (known.has(id)) return false;
      known.add(id);
      const list = lists.get(priority);
      if (list) list.push(id);
      else lists.set(priority, [id]);
      return true;
    },
    take(ids_max, priority_min) {
      const ids: string[] = [];
      for (const priority of [...lists.keys()].filter((one) => one >= priority_min).sort((a, b) => b - a)) {
        const list = lists.get(priority) ?? [];
        ids.push(...list.splice(0, ids_max - ids.length));
        if (list.length === 0) lists.delete(priority);
        if (ids.length === ids_max) break;
      }
      for (const id of ids) known.delete(id);
      return ids;
    },
    length: () => known.size,
  };
}
