import type { NotStartedError } from "./child-process.ts";

/** Events about processes that cannot be started, and about the first that can be again. */
export type HearStarts = {
  notStarted(error: NotStartedError, retry_in_ms: number): void;
  startedAgain(): void;
};

const rest_ms_min = 500;
const rest_ms_max = 30_000;

/**
 * Rests between tries to start a process, each twice as long as the one before: what keeps the system from starting one
 * (no room, no `node`) may last, and trying is work too. `tryAgain` is called after each.
 */
export function createStartRest(tryAgain: () => void, hear: HearStarts, now: () => number = () => performance.now()) {
  let failing: { error: NotStartedError; since: number; rest_ms: number } | undefined;
  let resting: NodeJS.Timeout | undefined;

  return {
    /** Why none could be started at the last try. */
    failing: () => failing?.error,
    /** Since the first try that failed. */
    failingForMs: () => (failing ? now() - failing.since : 0),
    failed(error: NotStartedError): void {
      // Of several tried at once the first counts.
      if (resting) return;
      const rest_ms = failing ? Math.min(failing.rest_ms * 2, rest_ms_max) : rest_ms_min;
      failing = { error, since: failing?.since ?? now(), rest_ms };
      resting = setTimeout(() => {
        resting = undefined;
        tryAgain();
      }, rest_ms);
      hear.notStarted(error, rest_ms);
    },
    succeeded(): void {
      if (!failing) return;
      clearTimeout(resting);
      [failing, resting] = [undefined, undefined];
      hear.startedAgain();
    },
    stop: () => clearTimeout(resting),
  };
}
