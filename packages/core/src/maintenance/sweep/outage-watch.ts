import { SignalUnavailableError } from "../../signal/signal.ts";
import type { LoopDeps } from "../loop-deps.ts";

/** After the database's return: settlements and renewals go first, so that no lease that ran out meanwhile is taken from a worker that lives. */
const grace_ms = 3_000;
/**
 * One process that cannot reach a database which answers all others must not keep dead workers' jobs from them for good:
 * a sweeper that has been answered for so long, and saw no failure itself, no longer waits.
 */
const held_ms_max = 60_000;
const mark = "outage";

export type OutageWatch = {
  /** The database failed here: the whole fleet is told. Never rejects. */
  failed(): Promise<void>;
  /** A connection broke here: the server may have crashed, and forgotten the last renewals of others. */
  broke(): void;
  /** And those of what is held here: from now on until `renewed`, nobody's leases are ended here. */
  renewing(): void;
  renewed(): void;
  /** The database has just answered here. Whether leases that have run out may be ended. */
  settledIn(): Promise<boolean>;
};

/**
 * Knows of outages of the database that anybody in the fleet met. A sweeper may have had no turn while it was away, and
 * would end leases whose workers could not renew them.
 *
 * @example
 * const outage = createOutageWatch(deps);
 * if (await outage.settledIn()) await recoverAll(deps);
 */
export function createOutageWatch(deps: LoopDeps): OutageWatch {
  /** What was sent before the return may be waited for as long as the deadline, and is sent anew then. */
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
