import { formatFigure } from "../report/markdown.ts";
import type { Row } from "../report/result.ts";
import type { Effort, Figure, Scenario } from "../scenarios/scenario.ts";
import type { Variant } from "../variants/variant.ts";
import { startChild, type Child } from "./child.ts";
import type { Servers } from "./servers.ts";
import { median } from "./statistics.ts";

export type Plan = {
  scenarios: readonly Scenario[];
  variants: readonly Variant[];
  rounds: number;
  effort: Effort;
};

export type Measured = {
  rows: Row[];
  /** Runs without a figure, each with its reason. */
  failures: string[];
};

/**
 * Measure every scenario: the variants take turns (A B C A B C …), each in its own process that lives for the scenario,
 * each run on a new database. A failed run leaves its round out.
 */
export async function runRounds(servers: Servers, plan: Plan, tell: (line: string) => void): Promise<Measured> {
  const failures: string[] = [];
  const rows: Row[] = [];
  for (const scenario of plan.scenarios) {
    const suited = plan.variants.filter((variant) => scenario.suits?.(variant) ?? variant.store !== "none");
    const children = new Map<Variant, Child>();
    const found: Row[] = [];
    try {
      for (let round = 1; round <= plan.rounds; round += 1) {
        for (const variant of suited) {
          const child = children.get(variant) ?? startChild();
          children.set(variant, child);
          try {
            const figures = await measureOnce(servers, child, { scenario, variant, effort: plan.effort });
            for (const figure of figures) note(found, variant, figure);
            tell(`${scenario.name} ${round}/${plan.rounds} ${variant.title}: ${figures.map(told).join(", ")}`);
          } catch (error) {
            const failure = `${scenario.name} ${round}/${plan.rounds} ${variant.title} failed: ${String(error)}`;
            failures.push(failure);
            tell(failure);
            child.stop();
            children.delete(variant);
          }
        }
      }
    } finally {
      for (const child of children.values()) child.stop();
    }
    rows.push(...found);
  }
  return { rows: rows.map((row) => ({ ...row, median: median(row.rounds) })), failures };
}

const answer_seconds_max = 180;

type Run = { scenario: Scenario; variant: Variant; effort: Effort };

async function measureOnce(servers: Servers, child: Child, { scenario, variant, effort }: Run): Promise<Figure[]> {
  const { urls, drop } = await servers.fresh();
  try {
    const order = { scenario: scenario.name, variant: variant.name, servers: urls, effort };
    return await child.measure(order, scenario.seconds_max?.(effort) ?? answer_seconds_max);
  } finally {
    await drop();
  }
}

function note(rows: Row[], variant: Variant, { scenario, unit, value }: Figure): void {
  let row = rows.find((one) => one.scenario === scenario && one.variant === variant.name);
  if (!row) rows.push((row = { scenario, variant: variant.name, unit, rounds: [], median: NaN }));
  row.rounds.push(value);
}

function told({ scenario, unit, value }: Figure): string {
  return `${scenario} ${formatFigure(value, unit)} ${unit}`;
}
