import { failed, type Ending } from "./outcome.ts";

type Limits = {
  /** Default: none. */
  timeout_seconds: number | undefined;
  /** Called at the timeout: aborts the handler's signal. */
  abort: (reason: Error) => void;
};

/**
 * Run one attempt to its outcome. Never rejects: an error of the handler fails its job alone, and so does a timeout, as long
 * after the attempt has called `startClock`.
 *
 * @example
 * const ending = await runAttempt({ timeout_seconds: 30, abort }, async (startClock) => {
 *   startClock();
 *   return succeeded(await handle(payload), undefined);
 * });
 */
export async function runAttempt<Other = never>(
  { timeout_seconds, abort }: Limits,
  attempt: (startClock: () => void) => Promise<Ending | Other>,
): Promise<Ending | Other> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    if (timeout_seconds === undefined) return await attempt(() => {});
    const timeout = Promise.withResolvers<never>();
    const late = () => {
      const error = new DOMException(`the handler ran longer than ${timeout_seconds} s`, "TimeoutError");
      timeout.reject(error);
      abort(error);
    };
    const startClock = () => void (timer = setTimeout(late, timeout_seconds * 1_000));
    return await Promise.race([attempt(startClock), timeout.promise]);
  } catch (thrown) {
    return failed(thrown);
  } finally {
    clearTimeout(timer);
  }
}
