import {
  advanceAll,
  fireAll,
  foldAll,
  hint,
  isUnavailable,
  pause,
  promoteAll,
  queuesWithReadyJobs,
  refillQueue,
  refreshStatistics,
  resignalOrphans,
  statisticsAreStale,
  sweepOutlook,
  type SweepOutlook,
} from "@atlasqueue/core";
import type { MovingDeps } from "../deps.ts";
import { createDeadLetterProjection } from "./dead-letter-projection.ts";
import { recallVanished } from "./recall-vanished.ts";
import { recoverAll } from "./recover-all.ts";
import { takeTurn } from "./take-turn.ts";

/** One sweep over the whole fleet in so long: an idle system asks the database less than once a second. */
const sweep_ms = 1_200;
const period_ms = 1_220;
/** A due row that another sweeper holds must not make this one spin. */
const rest_ms_min = 20;
const rest_after_outage_ms = 500;
/**
 * From the database's return on: settlements and renewals go first, so that no lease that ran out meanwhile is taken
 * from a worker that lives.
 */
const grace_after_outage_ms = 3_000;
const queues_max = 1_000;
const statistics_ms = 10_000;

/**
 * The net under everything: due retries and scheduled jobs, slots of schedules, expired leases, lost signals, the list of dead letters.
 * Runs on a timer whatever the queues are doing, sleeps until the next job is due when that is sooner, and takes turns
 * with the other workers' sweepers, so that a fleet asks the database as often as one worker does.
 */
export function createSweeper(deps: MovingDeps, stop: AbortSignal) {
  const projectDeadLetters = createDeadLetterProjection(deps);
  let wake = new AbortController();
  let due_at = Infinity;
  let away = false;
  let recover_from = -Infinity;

  const sweep = async (outlook: SweepOutlook, started: number, asked: boolean): Promise<Swept> => {
    const fired = isPast(outlook.schedule_in_ms) ? await fireAll(deps) : 0;
    const promoted = isPast(outlook.due_in_ms) ? await promoteAll(deps) : 0;
    const settled_in = started >= recover_from;
    // A worker that died while Postgres was away is found at the next turn: those that live renew first.
    const recalled = settled_in && !asked ? await recallVanished(deps) : 0;
    const ended = recalled > 0 || isPast(outlook.lease_check_in_ms);
    const recovered = settled_in && ended ? await recoverAll(deps) : 0;
    if (outlook.any_handovers) await advanceAll(deps);
    // Those of every queue, whoever serves it: the turn is the fleet's.
    let resignalled = 0;
    for (const queue of outlook.any_queued ? await queuesWithReadyJobs(deps, queues_max) : [])
      await hint(deps.observe, "sweep", async () => {
        if (queue.limited) await refillQueue(deps, queue);
        else resignalled += await resignalOrphans(deps, queue);
      });
    await hint(deps.observe, "dead letters", () => projectDeadLetters(outlook.newest_dead));
    // Once a turn is enough, however often something becomes due.
    if (outlook.any_changes && !asked) await foldAll(deps);
    const duration_ms = performance.now() - started;
    deps.observe({ event: "sweep_complete", promoted, fired, recovered, resignalled, duration_ms });
    if ((await statisticsAreStale(deps.database)) && (await takeTurn(deps, "statistics", statistics_ms)))
      await refresh();
    return { fired, changed: promoted + fired + recovered > 0 };
  };

  const refresh = async (): Promise<void> => {
    try {
      await refreshStatistics(deps.database);
    } catch (error) {
      // Autovacuum does it as well, if later.
      deps.logger.warn({ err: error }, "statistics_failed");
    }
  };

  const turn = async (): Promise<void> => {
    const started = performance.now();
    const asked = started >= due_at;
    if (asked) due_at = Infinity;
    else if (!(await takeTurn(deps, "sweep", sweep_ms))) return;
    const outlook = await sweepOutlook(deps).catch((error: unknown) => {
      away = true;
      throw error;
    });
    if (away) {
      away = false;
      recover_from = performance.now() + grace_after_outage_ms;
    }
    const { changed, fired } = await sweep(outlook, started, asked);
    const { due_in_ms, schedule_in_ms } = changed ? await sweepOutlook(deps) : outlook;
    // A schedule that is due and cannot be fired waits for the next turn.
    const slot_in_ms = isPast(schedule_in_ms) && fired === 0 ? null : schedule_in_ms;
    const next_in_ms = Math.min(due_in_ms ?? Infinity, slot_in_ms ?? Infinity);
    if (next_in_ms < period_ms) expectIn(Math.max(rest_ms_min, next_in_ms));
  };

  /** Be there then, whoever's turn it is. */
  const expectIn = (delay_ms: number): void => {
    due_at = Math.min(due_at, performance.now() + delay_ms);
  };

  return {
    async run(): Promise<void> {
      while (!stop.aborted) {
        let rest_ms = period_ms;
        try {
          await turn();
        } catch (error) {
          if (isUnavailable(error))
            deps.observe({ event: "database_unavailable", during: "sweep", error: String(error) });
          else deps.logger.error({ err: error }, "sweep_failed");
          rest_ms = rest_after_outage_ms;
        }
        wake = new AbortController();
        const until_due = due_at - performance.now();
        await pause(
          Math.max(0, Math.min(rest_ms * (1 + Math.random() / 10), until_due)),
          AbortSignal.any([stop, wake.signal]),
        );
      }
    },
    /** The queues are empty: sweep now, if it is our turn. */
    nudge: () => wake.abort(),
  };
}
type Swept = { fired: number; changed: boolean };
export type Sweeper = ReturnType<typeof createSweeper>;

const isPast = (in_ms: number | null) => in_ms !== null && in_ms <= 0;
