import { isUnavailable } from "../database/errors.ts";
import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import { near_jobs_max, places_max } from "./within-rates.ts";

/**
 * After that a queue is looked at again with its next claim, and sooner where its list is out of order and most of what was
 * found has gone. An old snapshot makes looks slow: then they take a tenth of the time, or half of it.
 */
const lasts_ms = 1_000;
const rest_ms = 100;
/** Tried by one claim: others may have taken them meanwhile. */
const tried_max = 50;
/** Of all queues together: 10 MB. Beyond it, those that were looked at longest ago are forgotten. */
const ids_max = 100_000;

/**
 * The first ready jobs of queues with limits, so that they go before a younger one whose id comes first: a list that was
 * lost in Redis, or whose ids were taken in vain, has only what came in since.
 */
export type Fronts = {
  /** Of the queue's first jobs, those that may be in front of `ids`. None at first: the look goes on beside the claim. */
  before(queue: QueueRef, ids: readonly string[]): readonly string[];
  /**
   * These do not wait any more, as far as a claim could see: it leased them, or somebody else had. `overtook`: some went in
   * place of the ids it was given.
   */
  gone(queue: QueueRef, ids: readonly string[], overtook?: boolean): void;
};

/** `at`: when the look ended, which took so long. `full`: there were more. `needed`: the list is out of order. */
type Front = { ids: string[]; at: number; took_ms: number; full: boolean; needed: boolean };

/**
 * Looks once a second at a queue that is claimed from, up to ten times where its list is out of order, and at one queue at a
 * time. What it found may have been taken since: who claims will see.
 *
 * @example
 * const fronts = createFronts(deps);
 * await claim(deps, ids, { ...claimer, fronts, put_back });
 */
export function createFronts(deps: Pick<Deps, "database" | "observe">, now = () => performance.now()): Fronts {
  /** Those looked at longest ago are in front. */
  const found = new Map<string, Front>();
  let count = 0;
  /** While a look is under way: what has gone since. It may have seen that waiting. */
  let gone_since: Set<string> | undefined;

  const forget = (name: string): void => {
    count -= found.get(name)?.ids.length ?? 0;
    found.delete(name);
  };
  const keep = (name: string, ids: string[], began_at: number, full: boolean): void => {
    forget(name);
    const at = now();
    found.set(name, { ids, at, took_ms: at - began_at, full, needed: false });
    count += ids.length;
    for (const oldest of found.keys()) {
      if (count <= ids_max && found.size <= places_max) return;
      forget(oldest);
    }
  };
  const look = async (queue: QueueRef): Promise<void> => {
    gone_since = new Set();
    const began_at = now();
    try {
      const own = { database: onBehalfOf(deps.database, { tenant: queue.tenant }) };
      const jobs = await readyJobs(own, queue, 0, near_jobs_max);
      const waits = jobs.flatMap(({ id }) => (gone_since?.has(id) ? [] : [id]));
      keep(nameOf(queue), waits, began_at, jobs.length === near_jobs_max);
    } catch (error) {
      // The claims go on with what is known, and with their ids.
      keep(nameOf(queue), found.get(nameOf(queue))?.ids ?? [], began_at, false);
      const during = "looking for the first jobs of a limited queue";
      if (isUnavailable(error)) deps.observe({ event: "database_unavailable", during, error: String(error) });
      else deps.observe({ event: "refill_failed", queue: queue.queue, error: String(error) });
    } finally {
      gone_since = undefined;
    }
  };

  return {
    before(queue, ids) {
      const front = found.get(nameOf(queue));
      if (!gone_since && (!front || isDue(front, now()))) void look(queue);
      if (!front) return [];
      const given = new Set(ids);
      const places = ids.map((id) => front.ids.indexOf(id));
      const end = places.includes(-1) ? tried_max : Math.max(...places);
      const others = front.ids.slice(0, end).filter((id) => !given.has(id));
      return others.slice(0, tried_max);
    },
    gone(queue, ids, overtook = false) {
      for (const id of ids) gone_since?.add(id);
      const front = found.get(nameOf(queue));
      if (front && overtook) front.needed = true;
      if (!front || ids.length === 0) return;
      const gone = new Set(ids);
      const left = front.ids.filter((id) => !gone.has(id));
      count -= front.ids.length - left.length;
      front.ids = left;
    },
  };
}

function isDue({ ids, at, took_ms, full, needed }: Front, now_ms: number): boolean {
  const is_short = needed && full && ids.length < tried_max;
  return now_ms - at >= (is_short ? Math.max(rest_ms, took_ms) : Math.max(lasts_ms, 9 * took_ms));
}

const nameOf = ({ tenant, queue }: QueueRef): string => `${tenant} ${queue}`;
