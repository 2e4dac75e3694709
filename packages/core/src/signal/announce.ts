import type { Deps } from "../deps.ts";
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

type SignalDeps = Pick<Deps, "observe"> & { signal: Signal };

/**
 * Signal jobs that a committed transition made ready, those of all queues in one round trip. `front` is for those that already
 * had their place. Resolves with how many the signal took in; the others are already there, or left to the sweep.
 */
export async function announce(
  deps: SignalDeps,
  jobs: readonly ReadyJob[],
  place: "back" | "front" = "back",
): Promise<number> {
  if (jobs.length === 0) return 0;
  let taken = 0;
  await hint(deps.observe, "push", async () => {
    taken = await (place === "back" ? deps.signal.push(jobs) : deps.signal.pushFront(jobs));
    if (taken > 0) tellOf(deps.observe, jobs, taken);
  });
  return taken;
}

/** The signal only says how many of all it took in. */
function tellOf(observe: Observe, jobs: readonly ReadyJob[], taken: number): void {
  const queues = Map.groupBy(jobs, ({ queue }) => queue);
  for (const [queue, its] of queues)
    observe({ event: "job_enqueued", queue, count: queues.size === 1 ? taken : its.length });
}
