import type { QueueRef } from "../deps.ts";
import { near_jobs_max } from "./within-rates.ts";

/** Of all queues together: 10 MB. Beyond it, the queues that were looked at longest ago are left to their next look. */
export const ids_max = 100_000;
/** Older jobs whose groups have starts again since the look wait no longer than this behind those it found. */
const lasts_ms = 2_000;

/** What looks past the first jobs of queues have found, by the queue. */
export type Stock = {
  /** None when the look was too long ago. */
  of(queue: QueueRef): readonly string[];
  /** In front of what earlier looks found, of which it keeps as many as are ever signalled at once. */
  add(queue: QueueRef, ids: readonly string[]): void;
  /** Empties it for good. */
  stop(): void;
};

/**
 * Ids of jobs that might start, had there been room, so that not each job that ends takes another look at thousands of jobs.
 * Nothing is taken out: whoever offers them asks which still may start. So two refills at once, here or in other
 * processes, offer the same ones, and one that found no room after all is offered again.
 *
 * @example
 * stock.add({ tenant: "default", queue: "mail" }, ids);
 * const ids = stock.of({ tenant: "default", queue: "mail" });
 */
export function createStock(now: () => number = () => performance.now()): Stock {
  /** Those put in longest ago are in front. */
  const found = new Map<string, { ids: readonly string[]; until: number }>();
  let count = 0;
  let stopped = false;

  const forget = (name: string): void => {
    count -= found.get(name)?.ids.length ?? 0;
    found.delete(name);
  };
  const forgetOld = (): void => {
    for (const [name, { until }] of found) {
      if (until > now() && count <= ids_max) return;
      forget(name);
    }
  };

  return {
    of(queue) {
      forgetOld();
      return found.get(nameOf(queue))?.ids ?? [];
    },
    add(queue, ids) {
      if (stopped || ids.length === 0) return;
      forgetOld();
      const name = nameOf(queue);
      const all = [...new Set([...ids, ...(found.get(name)?.ids ?? [])])].slice(0, near_jobs_max);
      forget(name);
      found.set(name, { ids: all, until: now() + lasts_ms });
      count += all.length;
      forgetOld();
    },
    stop() {
      stopped = true;
      found.clear();
    },
  };
}

const nameOf = ({ tenant, queue }: QueueRef): string => `${tenant} ${queue}`;
