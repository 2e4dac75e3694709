import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { promoteDue } from "./promote.ts";

const batch_max = 500;
const batches_max = 20;

/** Make every due job ready and signal it. Returns how many there were. */
export async function promoteAll(deps: Deps & { signal: Signal }): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < batches_max; batch += 1) {
    const promoted = await promoteDue(deps, batch_max);
    await announce(deps, promoted);
    total += promoted.length;
    if (promoted.length < batch_max) break;
  }
  return total;
}

/** Sweeps look a second ahead; what is due later than this they see in time. */
const horizon_ms = 2_000;
/** Jobs due within so long of each other share a promotion. */
const grain_ms = 20;

export type Promoter = {
  /** A job that this process scheduled is due in so long. */
  expectIn(delay_ms: number): void;
  stop(): void;
};

/**
 * Makes jobs ready on time that were scheduled for the next moment: a sweep that has just looked ahead would be up to a
 * second late. Timers in the process that scheduled them; should it die, the sweep finds them.
 *
 * @example
 * const promoter = createPromoter(deps);
 * promoter.expectIn(job.run_at.getTime() - job.created_at.getTime());
 */
export function createPromoter(deps: Deps & { signal: Signal }): Promoter {
  const timers = new Map<number, NodeJS.Timeout>();
  const promote = async (at: number) => {
    timers.delete(at);
    try {
      await promoteAll(deps);
    } catch (error) {
      // Whatever it is, the sweep meets it as well; nothing may be thrown from a timer.
      deps.observe({ event: "promotion_failed", error: String(error) });
    }
  };
  return {
    expectIn(delay_ms) {
      if (delay_ms > horizon_ms) return;
      const now = performance.now();
      const at = Math.ceil((now + delay_ms) / grain_ms) * grain_ms;
      if (!timers.has(at))
        timers.set(
          at,
          setTimeout(() => void promote(at), at - now),
        );
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
