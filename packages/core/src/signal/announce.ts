import type { Observe } from "../observe/events.ts";
import { SignalUnavailableError, type ReadyJob, type Signal } from "./signal.ts";

/** Postgres already has the truth, so a failed signal is reported and forgotten: the sweep finds what it missed. */
export async function hint(observe: Observe, during: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof SignalUnavailableError)) throw error;
    observe({ event: "signal_failed", during, error: error.message });
  }
}

/**
 * Signal jobs that a committed transition made ready. `front` is for those that already had their place. Resolves with
 * how many the signal took in; the others are already there, or left to the sweep.
 */
export async function announce(
  deps: { signal: Signal; observe: Observe },
  jobs: readonly ReadyJob[],
  place: "back" | "front" = "back",
): Promise<number> {
  let taken = 0;
  for (const [queue, ready] of Map.groupBy(jobs, (job) => job.queue))
    await hint(deps.observe, "push", async () => {
      const count = await (place === "back" ? deps.signal.push(ready) : deps.signal.pushFront(ready));
      taken += count;
      if (count > 0) deps.observe({ event: "job_enqueued", queue, count });
    });
  return taken;
}
