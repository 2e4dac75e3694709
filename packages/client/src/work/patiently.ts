import { backoffMs } from "../http/retry.ts";
import { pause } from "../http/time.ts";
import { isFinal, isForbidden, isLost, isRefusal } from "./answers.ts";
import type { Observe } from "./events.ts";
import type { HeldJob } from "./held-jobs.ts";

const retry_ms_max = 2_000;

/**
 * Ask the API for what a handler needs. While that is away it is asked again, for as long as the job is held: an outage costs
 * no attempt.
 *
 * @example
 * const { steps } = await patiently({ observe }, job, "steps", () => calls.steps(id, { retries: 0 }));
 */
export async function patiently<T>(
  { observe }: { observe: Observe },
  { stop }: Pick<HeldJob, "stop">,
  during: "steps" | "parents",
  ask: () => Promise<T>,
): Promise<T> {
  for (let failures = 1, refusals = 0; ; failures += 1) {
    stop.signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (isLost(error)) throw error;
      refusals = isRefusal(error) || isForbidden(error) ? refusals + 1 : 0;
      if (refusals > 0 && isFinal(error, refusals)) throw error;
      observe({ event: "api_unavailable", during, error });
      await pause(Math.min(backoffMs(failures, Math.random()), retry_ms_max), stop.signal);
    }
  }
}
