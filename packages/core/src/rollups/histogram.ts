/**
 * Durations in fixed buckets, each 2^(1/4) = 1.19 times as long as the one before it: the buckets of two histograms can be
 * added up, from any process. Bucket 0 is everything below 1 ms; the last one is everything from 45 days on.
 */
const per_doubling = 4;
const buckets_max = 1 + 32 * per_doubling;

/** How far a percentile may be off: it is given as the (geometric) middle of its bucket. */
export const percentile_error = 2 ** (1 / (2 * per_doubling)) - 1;

export function bucketOf(duration_ms: number): number {
  if (!(duration_ms >= 1)) return 0;
  return Math.min(buckets_max - 1, 1 + Math.floor(Math.log2(duration_ms) * per_doubling));
}

/** How many durations there were in each bucket; as long as its last bucket in use. */
export type Histogram = number[];

export function addTo(histogram: Histogram, bucket: number, count: number): void {
  while (histogram.length <= bucket) histogram.push(0);
  histogram[bucket] = (histogram[bucket] ?? 0) + count;
}

export function merge(into: Histogram, from: readonly number[]): void {
  for (const [bucket, count] of from.entries()) if (count > 0) addTo(into, bucket, count);
}

export type Percentiles = { count: number; p50_ms: number | null; p95_ms: number | null; p99_ms: number | null };

/** Each within `percentile_error` (9 %) of the true one; null when there is nothing to tell. */
export function percentiles(histogram: readonly number[]): Percentiles {
  const count = histogram.reduce((sum, one) => sum + one, 0);
  const at = (share: number) => (count === 0 ? null : middleOf(bucketAt(histogram, Math.ceil(count * share))));
  return { count, p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) };
}

/** The bucket of the one at a place, from 1, in the order of their lengths. */
function bucketAt(histogram: readonly number[], place: number): number {
  let before = 0;
  return histogram.findIndex((count) => (before += count) >= place);
}

function middleOf(bucket: number): number {
  const ms = bucket === 0 ? 0.5 : 2 ** ((bucket - 0.5) / per_doubling);
  return Number(ms.toPrecision(3));
}
