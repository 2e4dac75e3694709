// What people read: figures, times and spans. One way to write each, on every page.

const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const exactTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function count(value: number): string {
  return whole.format(value);
}

/** For places with little room: 1,234 as it is, 1,234,567 as 1.2M. */
export function compact(value: number): string {
  return value < 100_000 ? whole.format(value) : short.format(value);
}

/** Jobs a second. */
export function rate(per_second: number): string {
  return few(per_second);
}

/** How fast, in a unit in which the figure is easy to read: 12 /s, 2.5 /min, 3 /h. */
export function pace(per_second: number): readonly [figure: string, unit: "/s" | "/min" | "/h"] {
  if (per_second === 0 || per_second >= 1) return [few(per_second), "/s"];
  const per_minute = per_second * 60;
  return per_minute >= 1 ? [few(per_minute), "/min"] : [few(per_minute * 60), "/h"];
}

function few(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, "") : whole.format(Math.round(value));
}

/** Jobs a minute, without the unit: for a column of them. */
export function perMinute(per_second: number): string {
  const value = per_second * 60;
  if (value > 0 && value < 0.1) return "<0.1";
  return value < 10 ? few(value) : compact(Math.round(value));
}

/** Of memory: "85 MiB", "1.2 GiB". */
export function bytes(value: number): string {
  const mib = value / 2 ** 20;
  return mib < 1_000 ? `${Math.round(mib)} MiB` : `${few(mib / 1_024)} GiB`;
}

/** A part as a percentage: "0%", "<1%", "12%". */
export function percent(part: number): string {
  return part > 0 && part < 0.01 ? "<1%" : `${Math.floor(part * 100)}%`;
}

const second_ms = 1_000;
const minute_ms = 60 * second_ms;
const hour_ms = 60 * minute_ms;
const day_ms = 24 * hour_ms;

/** A span in its two largest units: "850 ms", "4.2 s", "3 min 5 s", "2 d 4 h". */
export function span(ms: number): string {
  if (ms < 0) return span(0);
  if (ms < 1) return ms === 0 ? "0 ms" : "<1 ms";
  if (ms < second_ms) return `${Math.round(ms)} ms`;
  if (ms < 10 * second_ms) return `${(ms / second_ms).toFixed(1)} s`;
  if (ms < minute_ms) return `${Math.floor(ms / second_ms)} s`;
  if (ms < hour_ms) return pair(ms, minute_ms, "min", second_ms, "s");
  if (ms < day_ms) return pair(ms, hour_ms, "h", minute_ms, "min");
  return pair(ms, day_ms, "d", hour_ms, "h");
}

function pair(ms: number, large_ms: number, large: string, small_ms: number, small: string): string {
  const rest = Math.floor((ms % large_ms) / small_ms);
  return `${Math.floor(ms / large_ms)} ${large}${rest > 0 ? ` ${rest} ${small}` : ""}`;
}

/** A span in its largest unit only: it changes seldom, so that nothing flickers. */
export function coarse(ms: number): string {
  if (ms < minute_ms) return `${Math.floor(ms / second_ms)} s`;
  if (ms < hour_ms) return `${Math.floor(ms / minute_ms)} min`;
  if (ms < day_ms) return `${Math.floor(ms / hour_ms)} h`;
  return `${Math.floor(ms / day_ms)} d`;
}

/** "12 s ago", "in 3 min", "just now". */
export function relative(at_ms: number, now_ms: number): string {
  const ahead_ms = at_ms - now_ms;
  if (Math.abs(ahead_ms) < 2 * second_ms) return "just now";
  return ahead_ms > 0 ? `in ${coarse(ahead_ms)}` : `${coarse(-ahead_ms)} ago`;
}

/** In the reader's time zone, to the second. */
export function exact(at: string | number | Date): string {
  return exactTime.format(new Date(at));
}

export function clockTime(at: string | number | Date): string {
  return clock.format(new Date(at));
}

/** "1 job", "2 jobs". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}
