import type { Costs } from "../costs/costs.ts";
import type { Meter } from "../costs/meter.ts";
import type { Curve, Row } from "../report/result.ts";
import type { Ageing } from "./ageing/drift.ts";
import type { Ours } from "../variants/ours.ts";
import type { ServerUrls, Variant } from "../variants/variant.ts";

/** How long a run may be; `--quick`, the options of the command line and the test make it shorter. */
export type Effort = {
  /** Jobs in one measurement, before a variant's share. */
  jobs: number;
  /** A measurement counted in operations ends here at the latest. */
  seconds_max: number;
  /** How long an idle system is watched. */
  idle_seconds: number;
  /** Succeeded jobs that are there before `history` measures. */
  history_rows: number;
  /** Queued jobs that are there before `history` measures. */
  backlog_rows: number;
  /** How long the snapshot of `snapshot` stays open, and ten times a transaction of `open-transaction`. */
  snapshot_seconds: number;
  /** One window of `mixed` and `same-load`. */
  sustain_seconds: number;
  /** Jobs of `memory`. */
  memory_jobs: number;
  /** How long `soak` goes on. */
  soak_minutes: number;
  /** What an earlier variant of the round could bear: see `loadOf`. */
  load_per_second?: number;
};

/** One measured value. A scenario may yield several, each in its own row. */
export type Figure = {
  scenario: string;
  unit: Row["unit"];
  value: number;
  costs?: Costs;
  ageing?: Ageing;
  /** Of one that is a point of a curve. */
  curve?: Curve;
};

export type Scenario = {
  /** As in `--scenario`. */
  name: string;
  /** Whether it makes sense for this variant. Default: for every queue. */
  suits?(variant: Variant): boolean;
  /** The load that the first variant of a round finds, for those after it to be measured at. */
  loadOf?(figures: readonly Figure[]): number | undefined;
  /** For what goes on for long: the most rounds that are run of it. */
  rounds_max?: number;
  /** How many minutes all its rounds take with the default options and variants, on two cores. */
  minutes: number;
  /** How long one round may take before it counts as failed. Default 180. */
  seconds_max?(effort: Effort): number;
  /** One round, in a process that runs nothing else, on a new database. */
  run(variant: Variant, servers: ServerUrls, effort: Effort, meter: Meter): Promise<Figure[]>;
};

/** What is measured only for this system. */
export const onlyOurs: NonNullable<Scenario["suits"]> = ({ ours }) => ours !== undefined;

/** What only this system can do. Throws for another. */
export function oursOf({ name, ours }: Variant): Ours {
  if (!ours) throw new Error(`${name} is not this system`);
  return ours;
}
