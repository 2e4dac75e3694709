import type { ReadyJob } from "../signal.ts";

/** The ids of one queue's jobs: higher priorities first, then the ones pushed first. */
export type IdList = {
  push(job: ReadyJob): void;
  /** False for a job with a priority that is there already. Ids of ordinary priority come next, and those of others last. */
  pushFront(job: ReadyJob): boolean;
  take(ids_max: number): string[];
  /** The next id of ordinary priority. */
  next(): string | undefined;
  length(): number;
};

/** Two stacks, so that a backlog of a million ids is not moved at every shift. The end of `front` is the next one. */
type Lane = { front: string[]; back: string[] };

function turnOver(lane: Lane): string[] {
  if (lane.front.length === 0) Object.assign(lane, { front: lane.back.reverse(), back: [] });
  return lane.front;
}

/**
 * A lane for each priority in use, as there are few priorities and many jobs.
 *
 * @example
 * const list = createIdList();
 * list.push({ tenant: "default", queue: "mail", id: "a", priority: 0 });
 */
export function createIdList(): IdList {
  const lanes = new Map<number, Lane>();
  const prioritised = new Set<string>();
  let length = 0;

  const add = ({ id, priority }: ReadyJob, end: keyof Lane): boolean => {
    if (priority !== 0 && prioritised.has(id)) return false;
    if (priority !== 0) prioritised.add(id);
    let lane = lanes.get(priority);
    if (!lane) lanes.set(priority, (lane = { front: [], back: [] }));
    lane[end].push(id);
    length += 1;
    return true;
  };
  const takeFrom = (priority: number, lane: Lane, ids_max: number): string[] => {
    const ids: string[] = [];
    while (ids.length < ids_max) {
      const id = turnOver(lane).pop();
      if (id === undefined) break;
      ids.push(id);
    }
    if (lane.front.length + lane.back.length === 0) lanes.delete(priority);
    if (priority !== 0) for (const id of ids) prioritised.delete(id);
    length -= ids.length;
    return ids;
  };

  return {
    push: (job) => void add(job, "back"),
    pushFront: (job) => add(job, job.priority === 0 ? "front" : "back"),
    take(ids_max) {
      const ids: string[] = [];
      for (const [priority, lane] of [...lanes].sort(([a], [b]) => b - a))
        if (ids.length < ids_max) ids.push(...takeFrom(priority, lane, ids_max - ids.length));
      return ids;
    },
    next() {
      const lane = lanes.get(0);
      return lane && turnOver(lane).at(-1);
    },
    length: () => length,
  };
}
