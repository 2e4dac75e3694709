/** The middle value; between the two middle ones when their number is even. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? NaN;
  return ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** The smallest value that at least `p` percent of the values do not exceed. NaN for none. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p * sorted.length) / 100) - 1)] ?? NaN;
}

/** When something was asked for, and how long it took, both in ms. */
export type Timed = { at_ms: number; ms: number };

/** The p99 of each second, the middle one of them; and the p99 of the worst ten seconds in a row. NaN for none. */
export function tails(samples: readonly Timed[]): { second_ms: number; worst_ms: number } {
  const seconds = [...Map.groupBy(samples, ({ at_ms }) => Math.floor(at_ms / 1_000))].toSorted(([a], [b]) => a - b);
  const took = seconds.map(([, some]) => some.map(({ ms }) => ms));
  const windows = Array.from({ length: Math.max(1, took.length - 9) }, (_, at) => took.slice(at, at + 10).flat());
  return {
    second_ms: median(took.map((one) => percentile(one, 99))),
    worst_ms: windows.reduce((worst, one) => Math.max(worst, percentile(one, 99)), took.length === 0 ? NaN : 0),
  };
}
