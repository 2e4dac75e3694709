/**
 * Notices when this process stands still for more than `stop_ms`: a handler has the processor, it is stopped (SIGSTOP), its
 * machine sleeps. What it reads afterwards may have come long before. `period_ms` is how exact that is.
 *
 * @example
 * const standstill = watchStandstill(1_000, 5_000);
 * const stoodMs = standstill.fromHere();
 * const answer = await ask();
 * const came_at = performance.now() - stoodMs(); // at the earliest
 */
export function watchStandstill(period_ms: number, stop_ms: number) {
  let looked_at = performance.now();
  let stood_ms = 0;
  const look = (): number => {
    const now = performance.now();
    if (now - looked_at > stop_ms) stood_ms += now - looked_at;
    looked_at = now;
    return stood_ms;
  };
  const timer = setInterval(look, period_ms);
  // The worker's own requests and jobs keep the process alive. A browser's timers have no such method.
  (timer as { unref?(): void }).unref?.();
  return {
    /** What it gives says how many ms it has stood still since. */
    fromHere(): () => number {
      const before_ms = look();
      return () => look() - before_ms;
    },
    stop: () => clearInterval(timer),
  };
}

export type Standstill = ReturnType<typeof watchStandstill>;
