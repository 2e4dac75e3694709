import { z } from "zod";
import { median } from "../../run/statistics.ts";

/** How something watched over time changed in the second half of that time. */
export const ageing = z.strictObject({
  /** Means of the first and of the last fifth of the second half. */
  half: z.number(),
  end: z.number(),
  /** What the slope makes of the second half, as a part of its mean: 0.1 is a tenth more. */
  growth: z.number(),
  /** Whether it grew no more than it may; to shrink is fine. */
  flat: z.boolean(),
  /** All of them, evenly spaced, from the start. */
  samples: z.array(z.number()),
  note: z.string().optional(),
});
export type Ageing = z.infer<typeof ageing>;

/** More than that over the second half is growth. */
const growth_max = 0.1;
/** Vacuums and checkpoints make saws of most lines: means over a fifth of the second half even them out. */
const parts_max = 5;

/**
 * Whether something was flat in the second half of its samples: the slope is the median of the slopes between all pairs
 * of the fifths' means (P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, 1968), so that one
 * odd fifth does not make it. `slack`: so much more is never growth, in the samples' unit.
 *
 * @example
 * driftOf([9, 9, 10, 10, 10, 10], 0).flat; // true
 */
export function driftOf(samples: readonly number[], slack: number): Ageing {
  const half = samples.slice(Math.floor(samples.length / 2));
  const parts = Math.min(parts_max, half.length);
  const edge = (part: number) => Math.round((part * half.length) / parts);
  const means = Array.from({ length: parts }, (_, part) => mean(half.slice(edge(part), edge(part + 1))));
  const slopes = means.flatMap((from, at) => means.slice(at + 1).map((to, ahead) => (to - from) / (ahead + 1)));
  const grown = slopes.length > 0 ? median(slopes) * parts : 0;
  const middle = mean(half);
  const growth = middle === 0 ? 0 : grown / Math.abs(middle);
  return {
    half: means[0] ?? NaN,
    end: means.at(-1) ?? NaN,
    growth,
    flat: growth <= growth_max || grown <= slack,
    samples: [...samples],
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
