import { setImmediate as nextTurn } from "node:timers/promises";
import { aboutLease, extendLeases, type Lease, type LeaseReturns } from "@atlasqueue/core/internal/worker";
import type { WorkerDeps } from "../deps.ts";

export type StartJobs = {
  deps: WorkerDeps;
  returns: Pick<LeaseReturns, "giveBack">;
  lease_seconds: number;
  start: (lease: Lease) => void;
  stop: AbortSignal;
};

/** After starting handlers this long without a turn of the event loop, let renewals and answers have theirs. */
const turn_ms_max = 20;

/**
 * Start the handlers of a claim, `asked_at` being when it was sent, by this process's own clock. Much time may pass in
 * between: the answer lay in the socket while a handler had the processor, or an earlier handler has it now. So a lease
 * a third of the way through is renewed first, and one that is lost, or cannot be renewed, is not started.
 */
export async function startJobs(jobs: StartJobs, leases: Lease[], asked_at: number): Promise<void> {
  const { returns, lease_seconds, start, stop } = jobs;
  let renewed_at = asked_at;
  let turned_at = performance.now();
  let held = leases;
  let at = 0;
  while (at < held.length) {
    if (stop.aborted) {
      void returns.giveBack(held.slice(at));
      return;
    }
    const now = performance.now();
    if (now - renewed_at > (lease_seconds * 1_000) / 3) {
      renewed_at = now;
      held = await renewLate(jobs, held.slice(at));
      at = 0;
    } else if (now - turned_at > turn_ms_max) {
      await nextTurn();
      turned_at = performance.now();
    } else {
      start(held[at] as Lease);
      at += 1;
    }
  }
}

/**
 * The jobs of late leases that are held for another lease. The lost ones are reported. All others go back with no attempt
 * counted, which includes all of them when it throws.
 */
async function renewLate({ deps, returns, lease_seconds }: StartJobs, leases: Lease[]): Promise<Lease[]> {
  try {
    const { lost, locked } = await extendLeases(deps, leases, lease_seconds);
    for (const lease of lost) deps.observe({ event: "lease_lost", during: "start", ...aboutLease(lease) });
    void returns.giveBack(locked);
    const gone = new Set([...lost, ...locked]);
    return leases.filter((lease) => !gone.has(lease));
  } catch (error) {
    void returns.giveBack(leases);
    throw error;
  }
}
