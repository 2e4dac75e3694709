export type Interval = { low: number; high: number };

/**
 * A confidence interval for the median of what these values are a sample of, whatever its distribution: from the k-th
 * smallest to the k-th greatest, with the greatest k for which the binomial distribution with p = ½ leaves at most
 * 1 − `confidence` outside. W. J. Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section 3.2; also
 * known as the interval of the sign test. With six values it is from the least to the greatest (96.9 %), with nine from
 * the second to the eighth (96.1 %), so that one disturbed pair on each side does not widen it. Undefined for fewer
 * values than the confidence takes: for 95 % fewer than six.
 *
 * @example
 * medianInterval([0.98, 1.01, 1.02, 1.02, 1.03, 1.05]); // { low: 0.98, high: 1.05 }
 */
export function medianInterval(values: readonly number[], confidence = 0.95): Interval | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let k = 0;
  // Of `count` values, the chance that fewer than k + 1 are below the median, and as many again above it.
  let chance = 0.5 ** count;
  let outside = 2 * chance;
  while (outside <= 1 - confidence && k < count / 2) {
    k += 1;
    chance *= (count - k + 1) / k;
    outside += 2 * chance;
  }
  const [low, high] = [sorted[k - 1], sorted[count - k]];
  return k > 0 && low !== undefined && high !== undefined ? { low, high } : undefined;
}
