import type { Figure } from "../scenarios/scenario.ts";

/** One scenario's figure of one variant: every round, and the one in the middle. */
export type Row = { scenario: string; variant: string; unit: Figure["unit"]; rounds: number[]; median: number };

export type TargetResult = {
  name: string;
  ratio: number;
  /** The ratio wanted: at least this much, or at most. */
  target: number;
  bound: "at least" | "at most";
  met: boolean;
};

/** What `--json` writes. */
export type Result = {
  /** How to make these figures again. */
  command: string;
  started_at: string;
  finished_at: string;
  machine: { cpu: string; cores: number; memory_gb: number; system: string };
  versions: Record<string, string>;
  rounds: number;
  jobs: number;
  rows: Row[];
  targets: TargetResult[];
};
