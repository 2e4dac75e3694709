import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import { pause } from "../../pause.ts";
import { type LoopDeps, reportFailed } from "../loop.ts";

/** How long writes must have been answered before leases are ended. */
const opens_after_ms_default = 8_000;
const beat_ms = 1_000;
/** Without claims nothing is done until there are some. */
const idle_ms = 60_000;
const gap_ms_max = 2_000;
/** After one that failed: a single cut connection must not make a gap. */
const repeat_ms = 250;

export type RecoveryGate = {
  /** Whether this process may end leases that have expired. */
  isOpen(): boolean;
  /** There are claims: write beats until there are none. */
  start(): void;
  /** Ending leases failed. */
  close(): void;
  run(stop: AbortSignal): Promise<void>;
};

/**
 * The only rule about when expired leases are ended. While PostgreSQL takes no writes, live workers cannot renew, and
 * their leases look expired when it is back. So a process ends leases only after its own writes have been answered for
 * `recovery_gate_ms` (default 8 s) without a gap of 2 s. Workers retry renewals four times a second, and are done by
 * then. A start, a freeze of this process and an outage begin anew.
 * See decisions/2026-11-28-recovery-gate.md.
 *
 * @example
 * const gate = createRecoveryGate(deps);
 * if (gate.isOpen()) await recoverAll(deps);
 */
export function createRecoveryGate(deps: LoopDeps): RecoveryGate {
  const opens_after_ms = deps.recovery_gate_ms ?? opens_after_ms_default;
  let answered_since = Infinity;
  let answered_at = -Infinity;
  let any_claims = false;
  let wake = new AbortController();

  /** Whether it was answered. */
  const beatOnce = async (): Promise<boolean> => {
    try {
      const [row] = await executeOn(deps.database)<{ beats: number }>({ text: beat, params: [] });
      any_claims = row?.beats === 1;
      const now = performance.now();
      if (now - answered_at > gap_ms_max) answered_since = now;
      answered_at = now;
      return true;
    } catch (error) {
      reportFailed(deps, "recovery_beat_failed", "recovery", error);
      return false;
    }
  };

  return {
    isOpen() {
      const now = performance.now();
      return now - answered_at <= gap_ms_max && now - answered_since >= opens_after_ms;
    },
    start() {
      if (any_claims) return;
      any_claims = true;
      wake.abort();
    },
    close() {
      answered_at = -Infinity;
    },
    async run(stop) {
      while (!stop.aborted) {
        wake = new AbortController();
        const began = performance.now();
        const period_ms = any_claims && !(await beatOnce()) ? repeat_ms : beat_ms;
        if (!any_claims) await pause(idle_ms, AbortSignal.any([stop, wake.signal]));
        else await pause(Math.max(0, began + period_ms - performance.now()), stop);
      }
    },
  };
}

// The commit of this message waits for the disk and for synchronous standbys, as a row's would, and locks nothing.
const beat = composed(
  "maintenance/beat",
  [],
  `
  SELECT count(pg_logical_emit_message(true, 'atlasqueue', 'beat'))::int AS beats
  FROM (SELECT FROM atlasqueue.claims LIMIT 1) AS any_claim`,
);
