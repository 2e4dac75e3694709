import {
  announce,
  hint,
  isUnavailable,
  projectDeadLetters,
  promoteDue,
  recoverExpired,
  refreshStatistics,
  resignalOrphans,
  sweepOutlook,
  type QueueRef,
  type SweepOutlook,
} from "@atlasqueue/core";
import { pause } from "./pause.ts";
import type { WorkerDeps } from "./start-worker.ts";

const batch_max = 500;
/** Claims looked at in one statement; each may be of hundreds of jobs. */
const lease_batches_max = 50;
/** Batches of one kind in one sweep, so that the other kinds get their turn. */
const batches_max = 20;
/** One sweep a second over the whole fleet, so that an idle system asks the database no more than that. */
const sweep_ms = 1_000;
const period_ms = 1_050;
/** A due row that another sweeper holds must not make this one spin. */
const rest_ms_min = 20;
/** After the database was away: settlements and renewals go first, so that nothing is recovered from a worker that lives. */
const rest_after_outage_ms = 2_000;
const full_projection_ms = 30_000;
const statistics_ms = 10_000;

/**
 * The net under everything: due retries and scheduled jobs, expired leases, lost signals, the list of dead letters.
 * Runs on a timer whatever the queues are doing, sleeps until the next job is due when that is sooner, and takes turns
 * with the other workers' sweepers, so that a fleet asks the database as often as one worker does.
 */
export function createSweeper(deps: WorkerDeps, queues: readonly QueueRef[], stop: AbortSignal) {
  let wake = new AbortController();
  let due_at = Infinity;
  let projected_at = -Infinity;
  let projected_newest: number | undefined;
  let round = 0;

  const sweep = async (outlook: SweepOutlook, started: number): Promise<{ changed: boolean }> => {
    if (outlook.statistics_are_stale && (await ourTurn("statistics", statistics_ms)))
      await refreshStatistics(deps.database);
    const due = outlook.due_in_ms !== null && outlook.due_in_ms <= 0;
    const expired = outlook.lease_check_in_ms !== null && outlook.lease_check_in_ms <= 0;
    const promoted = due ? await promoteAll() : 0;
    const recovered = expired ? await recoverAll() : 0;
    let resignalled = 0;
    if (outlook.any_queued)
      for (const queue of queues)
        await hint(deps.observe, "sweep", async () => void (resignalled += await resignalOrphans(deps, queue)));
    await hint(deps.observe, "dead letters", () => projectWhenNeeded(outlook));
    deps.observe({
      event: "sweep_complete",
      promoted,
      recovered,
      resignalled,
      duration_ms: performance.now() - started,
    });
    return { changed: promoted + recovered > 0 };
  };

  const promoteAll = async (): Promise<number> => {
    let total = 0;
    for (let batch = 0; batch < batches_max; batch += 1) {
      const promoted = await promoteDue(deps, batch_max);
      await announce(deps, promoted);
      total += promoted.length;
      if (promoted.length < batch_max) break;
    }
    return total;
  };

  const recoverAll = async (): Promise<number> => {
    let total = 0;
    for (let batch = 0; batch < batches_max; batch += 1) {
      const { requeued, dead, batches } = await recoverExpired(deps, lease_batches_max);
      await announce(deps, requeued, "front");
      if (dead.length > 0) await hint(deps.observe, "dead letter", () => deps.signal.deadLetters.add(dead));
      total += requeued.length + dead.length;
      if (batches < lease_batches_max) break;
    }
    return total;
  };

  const projectWhenNeeded = async ({ newest_dead }: SweepOutlook): Promise<void> => {
    const list = await deps.signal.deadLetters.look();
    const newest = newest_dead?.getTime();
    const empty = newest === undefined && list.length === 0;
    const intact = list.consistent && (list.cursor !== undefined || newest === undefined);
    const recent = performance.now() - projected_at < full_projection_ms;
    if (empty || (intact && newest === projected_newest && recent)) return;
    await projectDeadLetters(deps, round);
    round += 1;
    projected_at = performance.now();
    projected_newest = newest;
  };

  const turn = async (): Promise<void> => {
    const started = performance.now();
    const asked = started >= due_at;
    if (asked) due_at = Infinity;
    else if (!(await ourTurn("sweep", sweep_ms))) return;
    const outlook = await sweepOutlook(deps);
    const { changed } = await sweep(outlook, started);
    const { due_in_ms } = changed ? await sweepOutlook(deps) : outlook;
    if (due_in_ms !== null && due_in_ms < period_ms) expectIn(Math.max(rest_ms_min, due_in_ms));
  };

  /** Be there then, whoever's turn it is. */
  const expectIn = (delay_ms: number): boolean => {
    const at = performance.now() + delay_ms;
    if (at >= due_at) return false;
    due_at = at;
    return true;
  };

  const ourTurn = async (name: string, turn_ms: number): Promise<boolean> => {
    try {
      return await deps.signal.takeTurn(name, turn_ms);
    } catch {
      return true;
    }
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
        await pause(Math.max(0, Math.min(rest_ms, until_due)), AbortSignal.any([stop, wake.signal]));
      }
    },
    /** The queues are empty: sweep now, if it is our turn. */
    nudge: () => wake.abort(),
    /** A job of this worker will be due in so long. */
    expectDue(delay_ms: number): void {
      if (expectIn(delay_ms)) wake.abort();
    },
  };
}
export type Sweeper = ReturnType<typeof createSweeper>;
