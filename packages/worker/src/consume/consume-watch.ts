import type { AtlasEvent, Signal } from "@atlasqueue/core";
import type { WorkerDeps } from "../deps.ts";
import type { RunningJobs } from "./running-jobs.ts";

export type ConsumeWatch = {
  /** What the consumer works with, so that its steps are seen. */
  deps: WorkerDeps;
  /** How long it has taken no jobs although it should; 0 while all is well. */
  stuckForMs(): number;
};

/** A step that overruns its time by this much is presumed never to end. */
const late_ms_max = 10_000;

/**
 * Watches the consumer from outside: an idle one returns to the signal after each wait, a busy one after each claim,
 * and failing claims are reported. While handlers fill all its slots there is nothing it should do. Nor is there, perhaps,
 * when a whole turn has gone by since a claim failed: others may have taken what there was.
 */
export function watchConsuming(
  deps: WorkerDeps,
  running: Pick<RunningJobs, "concurrency" | "handlingCount">,
  poll_timeout_seconds: number,
  now: () => number = () => performance.now(),
): ConsumeWatch {
  const turn_ms_max = poll_timeout_seconds * 1_000 + late_ms_max;
  let turned_at = now();
  let failing: { since: number; last: number } | undefined;
  /** Of failures that each came within a turn after the one before. */
  const failingSince = () => (failing && now() - failing.last <= turn_ms_max ? failing.since : undefined);
  const turn = () => void (turned_at = now());

  const note = (event: AtlasEvent): void => {
    switch (event.event) {
      case "lease_acquired":
      case "lease_not_acquired":
        failing = undefined;
        break;
      case "handler_done":
      case "handler_error":
        turn();
        break;
      case "database_unavailable":
        if (event.during === "claim") failing = { since: failingSince() ?? now(), last: now() };
    }
  };
  const signal: Signal = {
    ...deps.signal,
    take(queues, ids_max) {
      turn();
      return deps.signal.take(queues, ids_max);
    },
    wait(queues, timeout_ms, stop) {
      turn();
      return deps.signal.wait(queues, timeout_ms, stop).finally(turn);
    },
  };
  return {
    deps: {
      ...deps,
      signal,
      observe(event) {
        note(event);
        deps.observe(event);
      },
    },
    stuckForMs() {
      const keeps_failing = failing !== undefined && failing.last - failing.since > late_ms_max;
      const failing_ms = keeps_failing ? now() - (failingSince() ?? now()) : 0;
      const still_ms = running.handlingCount() < running.concurrency ? now() - turned_at : 0;
      return Math.max(failing_ms, still_ms > turn_ms_max ? still_ms : 0);
    },
  };
}
