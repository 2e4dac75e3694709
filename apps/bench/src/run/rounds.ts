import { cpuOf, medianCosts } from "../costs/costs.ts";
import { formatFigure, formatNumber } from "../report/format.ts";
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
      const rounds = Math.min(plan.rounds, scenario.rounds_max ?? plan.rounds);
      for (let round = 1; round <= rounds; round += 1) {
        let load_per_second: number | undefined;
        for (const variant of suited) {
          const child = children.get(variant) ?? startChild();
          children.set(variant, child);
          try {
            const effort = { ...plan.effort, ...(load_per_second !== undefined && { load_per_second }) };
            const figures = await measureOnce(servers, child, { scenario, variant, effort });
            load_per_second ??= scenario.loadOf?.(figures);
            for (const figure of figures) note(found, variant, figure);
            tell(`${scenario.name} ${round}/${rounds} ${variant.title}: ${figures.map(told).join(", ")}`);
          } catch (error) {
            const failure = `${scenario.name} ${round}/${rounds} ${variant.title} failed: ${String(error)}`;
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
  return { rows: rows.map(withMedians), failures };
}

const answer_seconds_max = 180;

type Run = { scenario: Scenario; variant: Pick<Variant, "name">; effort: Effort };

/** One run, on a new database. Rejects with the reason when there is no figure. */
export async function measureOnce(
  servers: Servers,
  child: Child,
  { scenario, variant, effort }: Run,
): Promise<Figure[]> {
  const { urls, drop } = await servers.fresh();
  try {
    const order = { scenario: scenario.name, variant: variant.name, servers: urls, effort };
    return await child.measure(order, scenario.seconds_max?.(effort) ?? answer_seconds_max);
  } finally {
    await drop();
  }
}

function note(rows: Row[], variant: Variant, { scenario, unit, value, costs, ageing, curve }: Figure): void {
  let row = rows.find((one) => one.scenario === scenario && one.variant === variant.name);
  if (!row) rows.push((row = { scenario, variant: variant.name, unit, rounds: [], median: NaN }));
  row.rounds.push(value);
  if (ageing) row.ageing = ageing;
  if (curve) row.curve = curve;
  if (costs) (row.costs ??= { rounds: [], median: costs }).rounds.push(costs);
}

function withMedians(row: Row): Row {
  const { costs } = row;
  return {
    ...row,
    median: median(row.rounds),
    ...(costs && { costs: { rounds: costs.rounds, median: medianCosts(costs.rounds) } }),
  };
}

/** A figure in a line for whoever watches. */
export function told({ scenario, unit, value, costs }: Figure): string {
  const cpu = costs ? ` (${formatNumber(cpuOf(costs))} µs CPU a job)` : "";
  return `${scenario} ${formatFigure(value, unit)} ${unit}${cpu}`;
}
