import { isWordOfApi } from "../errors.ts";
import { pause } from "../http/time.ts";

/** An API may take that long to say that its database is away: asked again before, an outage would be twice the work for it. */
const patience_ms = 2_500;
/** With less than that left, one more answer would come too late. */
const left_ms_min = 1_000;

/**
 * How long a renewal waits for its answer until it is sent once more: a third of what is left of its lease, so that one answer
 * which the network swallowed leaves time for another. At least the API's own patience where a lease is long enough for that.
 *
 * @example
 * againMs(22_500); // 7,500
 */
export const againMs = (left_ms: number): number =>
  left_ms < left_ms_min ? Infinity : Math.max(left_ms / 3, Math.min(patience_ms, left_ms / 2));

/**
 * Ask, and ask again while no answer has come. The earlier tries are left to wait: an answer that is merely slow still counts,
 * as it does nowhere if each try is cut short for the sake of the next. The API's first word ends it, a good one or not;
 * what fails without one, when nothing else is under way.
 *
 * @example
 * await firstAnswer((signal) => heartbeat({ signal }), () => againMs(ends_at_ms - performance.now()));
 */
export function firstAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  againInMs: () => number,
  signal?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  let waiting = 0;
  const answered = new Promise<T>((resolve, reject) => {
    const again = async (): Promise<void> => {
      await pause(againInMs(), over.signal);
      if (!over.signal.aborted) void once();
    };
    const once = async (): Promise<void> => {
      waiting += 1;
      void again();
      try {
        resolve(await ask(over.signal));
      } catch (error) {
        waiting -= 1;
        if (waiting > 0 && !isWordOfApi(error) && !over.signal.aborted) return;
        reject(error as Error);
      }
      over.abort();
    };
    void once();
  });
  return answered.finally(() => signal?.removeEventListener("abort", abort));
}
