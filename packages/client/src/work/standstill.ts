/**
 * Notices that this process stood still: a handler had the processor, it was stopped (SIGSTOP), its machine slept. What
 * it reads afterwards may have come long before. `period_ms` is how exact that is.
 *
 * @example
 * const standstill = watchStandstill(1_000);
 * standstill.begin();
 * const answer = await ask();
 * if (standstill.longest_ms() > 5_000) await askAgain(answer);
 */
export function watchStandstill(period_ms: number) {
  let looked_at = performance.now();
  let longest_ms = 0;
  const look = (): void => {
    const now = performance.now();
    longest_ms = Math.max(longest_ms, now - looked_at);
    looked_at = now;
  };
  const timer = setInterval(look, period_ms);
  // The worker's own requests and jobs keep the process alive. A browser's timers have no such method.
  (timer as { unref?(): void }).unref?.();
  return {
    /** From now on. */
    begin(): void {
      looked_at = performance.now();
      longest_ms = 0;
    },
    longest_ms(): number {
      look();
      return longest_ms;
    },
    stop: () => clearInterval(timer),
  };
}
