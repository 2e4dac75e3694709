import { pause, soon } from "./pause.ts";

/**
 * Runs `work` at the end of the turn of the event loop in which it is pulled, and then at most once in `rest_ms`. Pulled
 * during the work or the rest, it runs once more. Once `stop` aborts it does not begin again. `work` must not reject.
 *
 * @example
 * const progress = createTrigger(() => writeNewest(), { rest_ms: 1_000, stop });
 * progress.pull();
 */
export function createTrigger(work: () => Promise<void>, { rest_ms, stop }: { rest_ms: number; stop: AbortSignal }) {
  let pulled = false;
  let running = false;

  const run = async (): Promise<void> => {
    while (pulled && !stop.aborted) {
      pulled = false;
      await work();
      await pause(rest_ms, stop);
    }
    running = false;
  };
  return {
    /** There is something to do. Costs nothing while the work is due anyway. */
    pull(): void {
      pulled = true;
      if (running) return;
      running = true;
      soon(() => void run());
    },
  };
}
