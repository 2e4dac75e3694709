import { SignalUnavailableError } from "../../signal/signal.ts";
import { noteAnswer } from "../../database/patience.ts";
import type { LoopDeps } from "../loop-deps.ts";

/**
 * After the database's return, settlements and renewals go first, so that no lease that ran out meanwhile is taken from
 * a live worker.
 */
const grace_ms = 3_000;
/**
 * A single process that cannot reach a database that answers all others must not keep dead workers' jobs from them for
 * good: a sweeper that has had answers for this long, without a failure of its own, no longer waits.
 */
const held_ms_max = 60_000;
const mark = "outage";
/** A third of the longest lease, and some: by then each living holder has renewed. */
const jump_rest_ms_max = 1_210_000;

export type OutageWatch = {
  /** The database failed here: tells the whole fleet. Never rejects. */
  failed(): Promise<void>;
  /** A connection broke here: the server may have crashed and forgotten other workers' last renewals. */
  broke(): void;
  /** It may also have forgotten ours: until `renewed`, no leases are ended here. */
  renewing(): void;
  renewed(): void;
  /**
   * The database's clock was set forward, and leases have ended with it whose holders live. Those are renewed before half
   * of the jump is over: a lease has two thirds of its time left at least, and is renewed after a third. Never rejects.
   */
  jumped(jump_ms: number): Promise<void>;
  /** The database has just answered here. Returns whether expired leases may be ended. */
  settledIn(): Promise<boolean>;
};

/**
 * Knows of database outages met by anyone in the fleet. A sweeper may have had no turn during one, and would end leases
 * whose workers could not renew them. Each failure tells the fleet to end none for `lasts_ms`.
 *
 * @example
 * const outage = createOutageWatch(deps);
 * if (await outage.settledIn()) await recoverAll(deps);
 */
export function createOutageWatch(
  deps: LoopDeps,
  /** What was sent before the return may wait as long as the deadline, and is then sent again. */
  { lasts_ms = deps.database.timeout_ms + grace_ms } = {},
): OutageWatch {
  const { pulse } = deps.database;
  /** Since it was met away here, it has not been back for long enough. */
  let unsettled = false;
  let renewing = false;
  let held_since: number | undefined;
  let jump_until = -Infinity;

  const isMarked = async (): Promise<boolean> => {
    try {
      return await deps.signal.isMarked(mark);
    } catch (error) {
      // Without Redis every sweeper takes every turn, and has met the outage itself.
      if (error instanceof SignalUnavailableError) return false;
      throw error;
    }
  };

  const tellFleet = async (for_ms: number): Promise<void> => {
    try {
      await deps.signal.mark(mark, Math.ceil(for_ms));
    } catch (error) {
      if (!(error instanceof SignalUnavailableError)) deps.logger.error({ err: error }, "outage_mark_failed");
    }
  };

  const met = (): void => {
    unsettled = true;
    pulse.away = true;
  };

  return {
    async failed() {
      met();
      held_since = undefined;
      await tellFleet(lasts_ms);
    },
    async jumped(jump_ms) {
      const rest_ms = Math.min(jump_ms / 2 + lasts_ms, jump_rest_ms_max);
      jump_until = Math.max(jump_until, performance.now() + rest_ms);
      deps.logger.warn({ jump_ms: Math.round(jump_ms), rest_ms: Math.round(rest_ms) }, "database_clock_set_forward");
      // For those that start only now; the others see it for themselves.
      await tellFleet(rest_ms);
    },
    broke: met,
    renewing() {
      renewing = true;
    },
    renewed() {
      renewing = false;
    },
    async settledIn() {
      const now = performance.now();
      // From when any statement was answered: in a fleet, our turn may come long after.
      if (pulse.away) noteAnswer(pulse);
      if (now >= pulse.back_at + grace_ms) unsettled = false;
      if (now < jump_until) return false;
      if (!renewing && !unsettled && !(await isMarked())) {
        held_since = undefined;
        return true;
      }
      held_since ??= now;
      return now - held_since > held_ms_max;
    },
  };
}
