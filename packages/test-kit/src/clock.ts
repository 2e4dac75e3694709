/** The queue's own time. It stands still until a test moves it. */
export type TestClock = {
  now(): Date;
  /** Move it forward. Jobs that become due are run by the next `drain()`. Throws a RangeError for a step back. */
  advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): void;
  /** Move it forward to an instant; an earlier one leaves it alone. */
  advanceTo(instant: Date): void;
};

export function createClock(start: Date, moved: () => void): TestClock {
  let now_ms = start.getTime();
  if (Number.isNaN(now_ms)) throw new RangeError("now must be a valid date");
  const advanceTo = (instant: Date) => {
    if (!(instant.getTime() > now_ms)) return;
    now_ms = instant.getTime();
    moved();
  };
  return {
    now: () => new Date(now_ms),
    advanceTo,
    advance({ days = 0, hours = 0, minutes = 0, seconds = 0 }) {
      const by_ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
      if (!(by_ms >= 0)) throw new RangeError(`the clock moves forward only; got ${by_ms} ms`);
      advanceTo(new Date(now_ms + by_ms));
    },
  };
}
