/** What a zone's clocks show, as the instant at which UTC's clocks show it. */
export type WallTime = number;

export type WallClock = {
  /** What they show at an instant. */
  at(instant: number): WallTime;
  /** When they show it: once, twice (the earlier first) or, where they were put forward, never. */
  instantsOf(wall: WallTime): number[];
  /** The first change after `from`, up to `to`: the clocks are put forward or back. */
  changeBetween(from: number, to: number): Change | undefined;
};

/** At `at` the clocks go from `before` to `after`, both what they show (or would have shown) at that instant. */
export type Change = { at: number; before: WallTime; after: WallTime };

const day_ms = 86_400_000;
/** No zone changed twice within this time: where both ends agree, so does what lies between. */
const stride_ms = day_ms / 2;
const strides_max = 1_000;

/** Creating one is slower than finding a schedule's slots, and most schedules share few zones. */
const clocks = new Map<string, WallClock>();
const zones_max = 50;

/** The clocks of an IANA time zone, as this runtime knows them. Throws a RangeError for a zone it does not know. */
export function wallClock(timezone: string): WallClock {
  let clock = clocks.get(timezone);
  if (clock) return clock;
  clock = newClock(timezone);
  if (clocks.size >= zones_max) clocks.clear();
  clocks.set(timezone, clock);
  return clock;
}

function newClock(timezone: string): WallClock {
  const exactOffset = offsetReader(timezone);
  const known = new Map<number, number>();
  /** Asking the runtime is the main cost, and a schedule's slots lie close together. */
  const offsetAtStride = (stride: number): number => {
    let offset = known.get(stride);
    if (offset !== undefined) return offset;
    offset = exactOffset(stride * stride_ms);
    if (known.size >= strides_max) known.clear();
    known.set(stride, offset);
    return offset;
  };
  const offsetAt = (instant: number): number => {
    const stride = Math.floor(instant / stride_ms);
    const offset = offsetAtStride(stride);
    return offset === offsetAtStride(stride + 1) ? offset : exactOffset(instant);
  };
  const at = (instant: number): WallTime => instant + offsetAt(instant);

  /** The change between two instants with different offsets. Zones change on whole seconds. */
  const changeWithin = (from: number, to: number): Change => {
    let [low, high] = [Math.floor(from / 1_000), Math.ceil(to / 1_000)];
    const old = offsetAt(from);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (exactOffset(middle * 1_000) === old) low = middle;
      else high = middle;
    }
    const change = high * 1_000;
    return { at: change, before: change + old, after: change + exactOffset(change) };
  };

  return {
    at,
    instantsOf(wall) {
      // No zone is further than a day from UTC.
      const offsets = new Set([offsetAt(wall - day_ms), offsetAt(wall + day_ms)]);
      const instants = [...offsets].map((offset) => wall - offset).filter((instant) => at(instant) === wall);
      return instants.sort((a, b) => a - b);
    },
    changeBetween(from, to) {
      for (let low = from; low < to;) {
        const high = Math.min((Math.floor(low / stride_ms) + 1) * stride_ms, to);
        if (offsetAt(low) !== offsetAt(high)) return changeWithin(low, high);
        low = high;
      }
      return undefined;
    },
  };
}

/** How far a zone's clocks are ahead of UTC's at an instant, in milliseconds. */
function offsetReader(timezone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (instant) => {
    const second = Math.floor(instant / 1_000) * 1_000;
    // "3/28/2026, 22:59:00". Asking for its parts separately takes twice as long.
    const [month = 1, day, year = 0, hour, minute, second_of_minute] = (format.format(second).match(/\d+/g) ?? []).map(
      Number,
    );
    return Date.UTC(year, month - 1, day, hour, minute, second_of_minute) - second;
  };
}
