import type { Observe } from "../observe/events.ts";
import { SignalUnavailableError, type ReadyJob, type Signal } from "./signal.ts";

/** Postgres has the truth already, so a signal that fails is told and forgotten: the sweep finds what it missed. */
export async function hint(observe: Observe, during: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof SignalUnavailableError)) throw error;
    observe({ event: "signal_failed", during, error: error.message });
  }
}

/** Signal jobs that a committed transition made ready. `front` is for those that had their place already. */
export async function announce(
  deps: { signal: Signal; observe: Observe },
  jobs: readonly ReadyJob[],
  place: "back" | "front" = "back",
): Promise<void> {
  if (jobs.length === 0) return;
  await hint(deps.observe, "push", async () => {
    await (place === "back" ? deps.signal.push(jobs) : deps.signal.pushFront(jobs));
    for (const [queue, of] of Map.groupBy(jobs, (job) => job.queue))
      deps.observe({ event: "job_enqueued", queue, count: of.length });
  });
}
