import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { announce } from "../signal/announce.ts";

/**
 * scheduled | failed → queued, for jobs whose `run_at` has come, oldest first. Concurrent sweepers skip each other's
 * rows. Signal what it returns; a full batch means there may be more.
 *
 * @example
 * await signal.push(await promoteDue(deps, 500));
 */
export async function promoteDue(deps: Deps, jobs_max: number): Promise<ReadyJob[]> {
  const promoted = await executeOn(deps.database)<ReadyJob & { attempts: number; run_at: Date }>({
    text: promotion,
    params: [jobs_max],
  });
  if (promoted.length === 0) return [];
  const retried = promoted.filter((job) => job.attempts > 0).length;
  deps.observe({ event: "jobs_promoted", scheduled: promoted.length - retried, retried });
  return promoted.toSorted((a, b) => a.run_at.getTime() - b.run_at.getTime());
}

const promotion = composed(
  "maintenance/promote",
  ["jobs_max"],
  `
  WITH due AS MATERIALIZED (
    SELECT id, status FROM jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), promoted AS (
    UPDATE jobs SET status = 'queued', ready_at = due_at, due_at = NULL, waits_for = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND due_at <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), ${countMixedMoves("moved")}
  SELECT * FROM promoted`,
);

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
 * in the process that scheduled them; should it die, the sweep finds them.
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
      // Whatever it is, the sweep meets it too; nothing may be thrown from a timer.
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
