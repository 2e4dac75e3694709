/** A timer set for longer fires at once. */
const timer_ms_max = 2 ** 31 - 1;

/**
 * Do something that takes a signal, for at most `ms`. Rejects with `late()` when the time is up and with the signal's
 * reason when it aborts, at once, even if the work ignores its signal. The timer and the listener are removed with it:
 * AbortSignal.timeout would keep a timer for every request until it fires.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
  late: () => Error,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let reject: (reason: unknown) => void;
  const ended = new Promise<never>((_, rejectEnded) => (reject = rejectEnded));
  const end = (reason: unknown) => {
    reject(reason);
    controller.abort(reason);
  };
  const forward = () => end(signal?.reason);
  const timer = ms === Infinity ? undefined : setTimeout(() => end(late()), Math.min(ms, timer_ms_max));
  signal?.addEventListener("abort", forward, { once: true });
  try {
    return await Promise.race([act(controller.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", forward);
  }
}
