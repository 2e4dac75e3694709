/** Clocks run at slightly different rates, and hours may pass between two looks. */
const drift_ms_max = 2_000;

/**
 * Tells how far the database's clock was set forward since the last look, in milliseconds; 0 if it was not, or only a
 * little. `server_ms` is what it said at some time after `asked_at`, which is of `now`, a clock that nobody sets.
 *
 * @example
 * const jumpSince = createClockWatch();
 * const jump_ms = jumpSince(found.now_ms, asked_at);
 */
export function createClockWatch(now: () => number = () => performance.now()) {
  let ahead_ms_max: number | undefined;
  return (server_ms: number, asked_at: number): number => {
    // The answer may have been on its way for long: what is certain, on either side.
    const jump_ms = ahead_ms_max === undefined ? 0 : server_ms - now() - ahead_ms_max;
    ahead_ms_max = server_ms - asked_at;
    return jump_ms > drift_ms_max ? jump_ms : 0;
  };
}
