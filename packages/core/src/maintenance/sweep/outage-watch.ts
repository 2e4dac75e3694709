import { SignalUnavailableError } from "../../signal/signal.ts";
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

export type OutageWatch = {
  /** The database failed here: tells the whole fleet. Never rejects. */
  failed(): Promise<void>;
  /** A connection broke here: the server may have crashed and forgotten other workers' last renewals. */
  broke(): void;
  /** It may also have forgotten ours: until `renewed`, no leases are ended here. */
  renewing(): void;
  renewed(): void;
  /** The database has just answered here. Returns whether expired leases may be ended. */
  settledIn(): Promise<boolean>;
};

/**
 * Knows of database outages met by anyone in the fleet. A sweeper may have had no turn during one, and would end leases
 * whose workers could not renew them.
 *
 * @example
 * const outage = createOutageWatch(deps);
 * if (await outage.settledIn()) await recoverAll(deps);
 */
export function createOutageWatch(deps: LoopDeps): OutageWatch {
  /** What was sent before the return may wait as long as the deadline, and is then sent again. */
  const lasts_ms = deps.database.timeout_ms + grace_ms;
  let away = false;
  let renewing = false;
  let settled_at = -Infinity;
  let held_since: number | undefined;

  const isMarked = async (): Promise<boolean> => {
    try {
      return await deps.signal.isMarked(mark);
    } catch (error) {
      // Without Redis every sweeper takes every turn, and has met the outage itself.
      if (error instanceof SignalUnavailableError) return false;
      throw error;
    }
  };

  return {
    async failed() {
      away = true;
      held_since = undefined;
      try {
        await deps.signal.mark(mark, lasts_ms);
      } catch (error) {
        if (!(error instanceof SignalUnavailableError)) deps.logger.error({ err: error }, "outage_mark_failed");
      }
    },
    broke() {
      away = true;
    },
    renewing() {
      renewing = true;
    },
    renewed() {
      renewing = false;
    },
    async settledIn() {
      const now = performance.now();
      if (away) settled_at = now + grace_ms;
      away = false;
      if (!renewing && now >= settled_at && !(await isMarked())) {
        held_since = undefined;
        return true;
      }
      held_since ??= now;
      return now - held_since > held_ms_max;
    },
  };
}
