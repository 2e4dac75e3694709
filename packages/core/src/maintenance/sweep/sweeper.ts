import { dueSummaryInTime, type DueSummary } from "../due-summary.ts";
import { pause } from "../../pause.ts";
import type { Signal } from "../../signal/signal.ts";
import { type SweepDeps, takeTurn, reportFailed } from "../loop.ts";
import { createDuties } from "./duties.ts";
import { createRecoveryGate } from "./recovery-gate.ts";

/** One sweep per this time across the whole fleet. */
const sweep_ms = 1_200;
const period_ms = 1_220;
/** The same once so many sweeps in a row found nothing: what only a sweep finds still runs "within a second or two". */
const quiet_period_ms = 2_000;
const quiet_after_sweeps = 10;
/** To wake up costs a process more than such a sweep, so its quiet cells are swept at the same moments. */
const together_ms = 250;
/** A due row locked by another sweeper must not make this one spin. */
const rest_ms_min = 20;
const rest_after_outage_ms = 500;
/** How long to wait for a sweep: slow duties go on alongside the next one. */
const sweep_ms_max = 2_500;

/**
 * The safety net under everything: due retries and scheduled jobs, slots of schedules, expired leases, lost signals, dead
 * letters, operations. Sleeps at most until the next job is due, and takes turns with other processes' sweepers, so that a fleet asks
 * the database no more often than one worker. `discover` looks for tenants with ready jobs, by turns too.
 */
export function createSweeper(deps: SweepDeps, stop: AbortSignal, discover?: () => Promise<void>) {
  const gate = createRecoveryGate(deps);
  const duties = createDuties(deps, discover ?? (async () => {}), stop, gate);
  let wake = new AbortController();
  let due_at = Infinity;
  let quiet_sweeps = 0;

  const sweep = async (found: Partial<DueSummary>, asked: boolean): Promise<void> => {
    const started = performance.now();
    const swept = await duties.start(found, { asked });
    deps.observe({ event: "sweep_complete", ...swept, duration_ms: performance.now() - started });
    const changed = swept.promoted + swept.fired + swept.recovered > 0;
    const { due_in_ms, schedule_in_ms } = changed ? await dueSummaryInTime(deps) : found;
    // A due schedule that cannot be fired waits for the next turn.
    const slot_in_ms = isPast(schedule_in_ms) && swept.fired === 0 ? null : schedule_in_ms;
    const page_in_ms = isPast(found.operation_in_ms) ? null : found.operation_in_ms;
    const next_in_ms = Math.min(due_in_ms ?? Infinity, slot_in_ms ?? Infinity, page_in_ms ?? Infinity);
    if (next_in_ms < quiet_period_ms) expectIn(Math.max(rest_ms_min, next_in_ms));
  };

  /** Resolves with true after a sweep in a quiet system. A process that did not sweep rests for the usual period. */
  const turn = async (): Promise<boolean> => {
    if (deps.isRefused?.()) return false;
    const due = performance.now() >= due_at;
    if (due) due_at = Infinity;
    const ours = await takeTurn(deps, "sweep", sweep_ms);
    if (!ours && !due) {
      if (discover && (await takeTurn(deps, "tenants", sweep_ms))) await discover();
      return false;
    }
    const found = await dueSummaryInTime(deps);
    quiet_sweeps = isQuiet(found, deps.signal) ? quiet_sweeps + 1 : 0;
    if (found.lease_check_in_ms !== null) gate.start();
    const over = new AbortController();
    await Promise.race([sweep(found, !ours).catch(report), pause(sweep_ms_max, over.signal)]);
    // Without a reason it makes an error, which costs more than the rest of a sweep that finds nothing.
    over.abort("swept");
    return quiet_sweeps >= quiet_after_sweeps;
  };

  /** Wake up then, even if it is another sweeper's turn. */
  const expectIn = (delay_ms: number): void => {
    const at = performance.now() + delay_ms;
    if (at >= due_at) return;
    due_at = at;
    // A sweep we did not wait for may say so while we rest.
    wake.abort();
  };

  const report = (error: unknown): void => void reportFailed(deps, "sweep_failed", "sweep", error);

  const sweepOnTime = async (): Promise<void> => {
    while (!stop.aborted) {
      let rest_ms = about(period_ms);
      try {
        if (await turn()) rest_ms = quiet_period_ms - (performance.now() % together_ms);
      } catch (error) {
        report(error);
        rest_ms = about(rest_after_outage_ms);
      }
      wake = new AbortController();
      const until_due = due_at - performance.now();
      await pause(Math.max(0, Math.min(rest_ms, until_due)), AbortSignal.any([stop, wake.signal]));
    }
  };

  return {
    async run(): Promise<void> {
      await Promise.all([sweepOnTime(), gate.run(stop)]);
      await duties.operated();
    },
  };
}

const about = (ms: number) => ms * (1 + Math.random() / 10);
const isPast = (in_ms: number | null | undefined) => typeof in_ms === "number" && in_ms <= 0;

/**
 * No job is ready, leased or changed, and Redis is up. What comes then is signalled, or has a timer in the process that
 * delayed it. Only a sweep finds what a process left as it died, and what was submitted in SQL.
 */
export const isQuiet = (found: Partial<DueSummary>, { nonce, state }: Pick<Signal, "nonce" | "state">): boolean =>
  found.lease_check_in_ms === null && !Object.values(found).includes(true) && nonce !== undefined && state() === "up";
