/**
 * Notices that this process stood still for `stop_ms`: a handler had the processor, it was stopped (SIGSTOP), its machine
 * slept. What it reads afterwards may have come long before. `period_ms` is how exact that is.
 *
 * @example
 * const standstill = watchStandstill(1_000, 5_000);
 * const asked_at = performance.now();
 * const answer = await ask();
 * if (standstill.since(asked_at)) await askAgain(answer);
 */
export function watchStandstill(period_ms: number, stop_ms: number) {
  let looked_at = performance.now();
  let went_on_at = -Infinity;
  const look = (): void => {
    const now = performance.now();
    if (now - looked_at > stop_ms) went_on_at = now;
    looked_at = now;
  };
  const timer = setInterval(look, period_ms);
  // The worker's own requests and jobs keep the process alive. A browser's timers have no such method.
  (timer as { unref?(): void }).unref?.();
  return {
    /** Whether a standstill ended after that, by `performance.now()`. */
    since(at_ms: number): boolean {
      look();
      return went_on_at > at_ms;
    },
    stop: () => clearInterval(timer),
  };
}
