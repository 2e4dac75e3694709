import type { Deps } from "../deps.ts";
import type { Signal } from "../signal/signal.ts";
import { announce } from "../signal/announce.ts";
import type { DueRound } from "./due-round.ts";
import { promoteDue } from "./promote-due.ts";

const batch_max = 500;
/** In one go, leaving a sweep time for its other duties. */
const jobs_max = 10_000;

/**
 * Make every due job ready and signal it. Returns how many there were. While there are more than a page, pages of the
 * oldest take turns with looks of `goRound`, which has a share for everybody.
 */
export async function promoteAll(deps: Deps & { signal: Signal }, goRound?: DueRound): Promise<number> {
  let total = 0;
  while (total < jobs_max) {
    const promoted = await promoteDue(deps, batch_max);
    await announce(deps, promoted);
    total += promoted.length;
    if (promoted.length < batch_max) break;
    const others = (await goRound?.()) ?? [];
    await announce(deps, others);
    total += others.length;
  }
  return total;
}

/** Sweeps look a second ahead; they see anything due later than this in time. */
const horizon_ms = 2_000;
/** Jobs due this close together share a promotion. */
const grain_ms = 20;

export type Promoter = {
  /** A job scheduled by this process is due in `delay_ms`. */
  expectIn(delay_ms: number): void;
  stop(): void;
};

/**
 * Makes jobs due very soon ready on time: a sweep that has just looked ahead would be up to a second late. Uses timers
 * in the process that scheduled them; should it die, the sweep finds them. What falls due during a look is the next one's:
 * next to a backlog that takes seconds, looks would pile up in front of everything else.
 *
 * @example
 * const promoter = createPromoter(deps);
 * promoter.expectIn(job.run_at.getTime() - job.created_at.getTime());
 */
export function createPromoter(deps: Deps & { signal: Signal }): Promoter {
  const timers = new Map<number, NodeJS.Timeout>();
  let looking = false;
  let wanted = false;
  const promote = async () => {
    wanted = true;
    if (looking) return;
    looking = true;
    while (wanted) {
      wanted = false;
      try {
        await promoteAll(deps);
      } catch (error) {
        // Whatever it is, the sweep meets it too; nothing may be thrown from a timer.
        deps.observe({ event: "promotion_failed", error: String(error) });
      }
    }
    looking = false;
  };
  const fire = (at: number) => {
    timers.delete(at);
    void promote();
  };
  return {
    expectIn(delay_ms) {
      if (delay_ms > horizon_ms) return;
      const now = performance.now();
      const at = Math.ceil((now + delay_ms) / grain_ms) * grain_ms;
      if (!timers.has(at))
        timers.set(
          at,
          setTimeout(() => fire(at), at - now),
        );
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      wanted = false;
    },
  };
}
