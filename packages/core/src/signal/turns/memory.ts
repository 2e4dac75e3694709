import { rounds_max, type ReadyInGroup } from "../signal.ts";
import type { PriorityQueue } from "../memory/priority-queue.ts";

export type TurnQueue = Omit<PriorityQueue, "add"> & {
  /** False when the job is already there, or so many rounds ahead that it is not kept. */
  add(job: ReadyInGroup): boolean;
};

/** The jobs of one priority. `rounds` are in order; the first is being handed out. */
type Level = { rounds: Map<number, string[]>; last: Map<string | null, number>; current: number };

/** Groups that take turns: see `redis.ts`, which does the same with scores. */
export function turnQueue(): TurnQueue {
  const levels = new Map<number, Level>();
  const known = new Set<string>();

  const levelOf = (priority: number): Level => {
    let level = levels.get(priority);
    if (!level) levels.set(priority, (level = { rounds: new Map(), last: new Map(), current: 0 }));
    return level;
  };

  /** A group whose last round is over could not get an earlier place than a new one. */
  const forget = ({ last, current }: Level): void => {
    if (last.size <= 2 * known.size + 1_000) return;
    for (const [group, place] of last) if (place < current) last.delete(group);
  };

  const takeFrom = (level: Level, ids_max: number): string[] => {
    const ids: string[] = [];
    while (ids.length < ids_max && level.rounds.size > 0) {
      const round = level.rounds.get(level.current);
      if (round) ids.push(...round.splice(0, ids_max - ids.length));
      if (round && round.length > 0) break;
      level.rounds.delete(level.current);
      level.current += 1;
    }
    return ids;
  };

  return {
    add({ id, priority, group }) {
      if (known.has(id)) return false;
      const level = levelOf(priority);
      const place = Math.max(level.current, (level.last.get(group) ?? -1) + 1);
      if (place - level.current >= rounds_max) return false;
      known.add(id);
      level.last.set(group, place);
      forget(level);
      const round = level.rounds.get(place);
      if (round) round.push(id);
      else level.rounds.set(place, [id]);
      return true;
    },
    take(ids_max, priority_min) {
      const ids: string[] = [];
      for (const priority of [...levels.keys()].filter((one) => one >= priority_min).sort((a, b) => b - a)) {
        const level = levelOf(priority);
        ids.push(...takeFrom(level, ids_max - ids.length));
        // With it goes what is known of its groups.
        if (level.rounds.size === 0) levels.delete(priority);
        if (ids.length === ids_max) break;
      }
      for (const id of ids) known.delete(id);
      return ids;
    },
    length: () => known.size,
  };
}
