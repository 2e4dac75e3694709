import { z } from "zod";
import { cpuOf, type Costs } from "../costs/costs.ts";
import { median } from "../run/statistics.ts";
import type { Figure } from "../scenarios/scenario.ts";
import { medianInterval } from "./interval.ts";

const ratio = z.strictObject({
  scenario: z.string(),
  /** What of it: the figure itself, or one of a job's costs. */
  of: z.string(),
  better: z.enum(["more", "less"]),
  /** In the order in which they were measured. */
  pairs: z.array(z.strictObject({ a: z.number(), b: z.number() })).min(1),
  a: z.number(),
  b: z.number(),
  /** The median of the pairs' ratios, b ÷ a. */
  ratio: z.number(),
  /** At a confidence of 95 %; missing with fewer than six pairs. */
  interval: z.strictObject({ low: z.number(), high: z.number() }).optional(),
});
export type Ratio = z.infer<typeof ratio>;

const commit = z.strictObject({ name: z.string(), sha: z.string(), subject: z.string() });
export type Commit = z.infer<typeof commit>;

/** What `--compare` writes as JSON. */
export const comparison = z.strictObject({
  command: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  machine: z.strictObject({ cpu: z.string(), cores: z.int(), memory_gb: z.int(), system: z.string() }),
  a: commit,
  b: commit,
  jobs: z.int(),
  ratios: z.array(ratio),
  /** Pairs left out, each with its reason. */
  failures: z.array(z.string()),
});
export type Comparison = z.infer<typeof comparison>;

export type Pair = { a: Figure[]; b: Figure[] };

const costs: [string, (of: Costs) => number | undefined][] = [
  ["CPU, µs a job", cpuOf],
  ["· client", ({ client_us }) => client_us],
  ["· PostgreSQL", ({ postgres_us }) => postgres_us],
  ["· Redis", ({ redis_us }) => redis_us],
  ["waited for a core, µs a job", ({ waited_us }) => waited_us],
  ["log, bytes a job", ({ wal_bytes }) => wal_bytes],
  ["fsyncs a job", ({ wal_fsyncs }) => wal_fsyncs],
];

/** The ratios of every figure that both commits have, and of what its jobs cost. */
export function ratiosOf(pairs: readonly Pair[]): Ratio[] {
  const figures = new Map(pairs.flatMap(({ a }) => a).map((one) => [one.scenario, one.unit]));
  return [...figures].flatMap(([scenario, unit]) => {
    const take = (of: (figure: Figure) => number | undefined) =>
      pairs.flatMap((pair) => {
        const [a, b] = [pair.a, pair.b]
          .map((side) => side.find((one) => one.scenario === scenario))
          .map((one) => one && of(one));
        // A ratio to nothing is none.
        return a !== undefined && b !== undefined && a > 0 ? [{ a, b }] : [];
      });
    const better = unit === "per second" || unit === "×" ? "more" : "less";
    return [
      ratioOf(
        { scenario, of: unit, better },
        take(({ value }) => value),
      ),
      ...costs.map(([of, value]) =>
        ratioOf(
          { scenario, of, better: "less" },
          take((figure) => figure.costs && value(figure.costs)),
        ),
      ),
    ].filter((one) => one !== undefined);
  });
}

function ratioOf(about: Pick<Ratio, "scenario" | "of" | "better">, pairs: Ratio["pairs"]): Ratio | undefined {
  if (pairs.length === 0) return undefined;
  const ratios = pairs.map(({ a, b }) => b / a);
  const interval = medianInterval(ratios);
  return {
    ...about,
    pairs,
    a: median(pairs.map(({ a }) => a)),
    b: median(pairs.map(({ b }) => b)),
    ratio: median(ratios),
    ...(interval && { interval }),
  };
}

/** What the interval allows to say. */
export function verdictOf({ better, interval }: Ratio): "better" | "worse" | "no difference seen" | "too few pairs" {
  if (!interval) return "too few pairs";
  if (interval.low <= 1 && interval.high >= 1) return "no difference seen";
  return interval.low > 1 === (better === "more") ? "better" : "worse";
}
