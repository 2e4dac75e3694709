import { setImmediate as nextTurn } from "node:timers/promises";
import { isLate, renewLate, type Lease, type LeaseReturns } from "@atlasqueue/core/internal/worker";
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
  const { deps, returns, lease_seconds, start, stop } = jobs;
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
    if (isLate(renewed_at, lease_seconds, now)) {
      renewed_at = now;
      ({ held } = await renewLate({ ...deps, returns }, held.slice(at), lease_seconds));
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
