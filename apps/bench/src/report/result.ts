import { z } from "zod";
import { costs } from "../costs/costs.ts";
import { ageing } from "../scenarios/ageing/drift.ts";

/** Where a figure is on a curve: `x` of what its points differ in. */
const curve = z.strictObject({ name: z.string(), by: z.string(), x: z.number() });
export type Curve = z.infer<typeof curve>;

/** One scenario's figure of one variant: every round, and the one in the middle. */
const row = z.strictObject({
  scenario: z.string(),
  variant: z.string(),
  unit: z.enum(["per second", "ms", "s", "MB", "% of a core", "×", "jobs", "rows", "bytes", "µs", "plans"]),
  rounds: z.array(z.number()).min(1),
  median: z.number(),
  /** Of a rate: what one of its jobs cost, in every round, and each cost's median. */
  costs: z.strictObject({ rounds: z.array(costs).min(1), median: costs }).optional(),
  /** Of what is watched over time: how it changed, in the last round. */
  ageing: ageing.optional(),
  curve: curve.optional(),
});
export type Row = z.infer<typeof row>;

const targetResult = z.strictObject({
  name: z.string(),
  /** For a few it is not a ratio but the figure itself: the name gives its unit. */
  ratio: z.number(),
  /** The ratio wanted: at least this much, or at most. */
  target: z.number(),
  bound: z.enum(["at least", "at most"]),
  met: z.boolean(),
});
export type TargetResult = z.infer<typeof targetResult>;

/** What `--json` writes. */
export const result = z.strictObject({
  /** How to reproduce these figures. */
  command: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  machine: z.strictObject({ cpu: z.string(), cores: z.int(), memory_gb: z.int(), system: z.string() }),
  versions: z.record(z.string(), z.string()),
  rounds: z.int(),
  jobs: z.int(),
  rows: z.array(row),
  targets: z.array(targetResult),
  /** Runs without a figure: their rounds are missing above. */
  failures: z.array(z.string()),
});
export type Result = z.infer<typeof result>;
