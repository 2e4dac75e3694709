import type { QueueRef } from "../../deps.ts";
import { SignalUnavailableError } from "../../signal/signal.ts";

/** Of the time, a whole look that finds nothing may take a twenty-first. */
const rest_factor = 20;
/** Jobs may become visible this much after the time at which they say they were ready; later ones wait for a whole look. */
const behind_ms = 3_000;
const queues_max = 10_000;

/** By `performance.now()`: when a whole look is due, and since when looks have to see what becomes ready. */
type Looked = { whole_at: number; since: number };

/**
 * How far back the sweep looks for lost signals of each queue: to the beginning, as long as that is cheap. Beside
 * somebody's old transaction the index keeps an entry of every job claimed since, and a look from its front reads them
 * all. When such a look has found nothing, the next one rests for twenty times as long as it took, and those in between go
 * back to the one before. What they cannot see waits for a whole one (see decisions/2026-11-21-sweep.md); after an outage
 * of Redis the next one is whole.
 *
 * @example
 * const missing = await window.look(queue, (reach_ms) => resignalOrphans(deps, queue, reach_ms));
 */
export function createScanWindow(now: () => number = () => performance.now()) {
  const queues = new Map<string, Looked>();

  const lookedAt = ({ tenant, queue }: QueueRef): Looked => {
    const key = JSON.stringify([tenant, queue]);
    const looked = queues.get(key) ?? { whole_at: now(), since: now() };
    if (queues.size >= queues_max) queues.clear();
    queues.set(key, looked);
    return looked;
  };

  return {
    async look(queue: QueueRef, resignal: (reach_ms: number) => Promise<number>): Promise<number> {
      const looked = lookedAt(queue);
      const began_at = now();
      const whole = began_at >= looked.whole_at;
      const rest = () => {
        if (whole) looked.whole_at = now() + rest_factor * (now() - began_at);
      };
      try {
        const missing = await resignal(whole ? Infinity : began_at - looked.since + behind_ms);
        // What was missing may be a part of what is: the next look goes as far.
        if (missing > 0) return missing;
        looked.since = began_at;
        rest();
        return 0;
      } catch (error) {
        // Redis may come back with nothing in it; and how long it took to be away is no cost of a look.
        if (error instanceof SignalUnavailableError) looked.whole_at = began_at;
        else rest();
        throw error;
      }
    },
  };
}
