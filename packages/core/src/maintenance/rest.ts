/** From one pass over the old rows to the next, across the whole fleet. */
export const pass_ms = 60_000;
const rest_ms_min = 20;

/**
 * How long the cleaner rests after a step that took `step_ms`: twice as long. A pass that has lasted longer than the time
 * until the next is behind: at that pace the tables may grow for ever, which shows in everyone's latency. Then half as
 * long is enough, for two thirds of one connection's time instead of one third.
 *
 * @example
 * await pause(restMs(40, 90_000), stop); // 20 ms
 */
export function restMs(step_ms: number, passing_ms: number): number {
  const is_behind = passing_ms > pass_ms;
  return Math.max(rest_ms_min, step_ms * (is_behind ? 0.5 : 2));
}
