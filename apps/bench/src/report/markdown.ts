import { aloneWithCosts, comparedWithCosts } from "./costs-tables.ts";
import { curvesOf, curveTable } from "./curves.ts";
import { formatFigure, table } from "./format.ts";
import type { Result, Row, TargetResult } from "./result.ts";

/** What the tables call a variant. */
export type Titles = Readonly<Record<string, string>>;

/** The whole result as a page: targets, rates with their costs, other medians, raw rounds, what it was measured on. */
export function renderMarkdown(result: Result, titles: Titles): string {
  const points = result.rows.filter(({ curve }) => curve !== undefined);
  const { compared, alone } = apart(result.rows);
  const withCosts = (rows: readonly Row[]) => rows.filter(({ costs }) => costs !== undefined);
  const aged = result.rows.filter(({ ageing }) => ageing !== undefined);
  const without = (rows: readonly Row[]) => rows.filter(({ costs, ageing }) => !costs && !ageing);
  const part = (title: string, rows: readonly unknown[], body: () => string) =>
    rows.length > 0 ? `## ${title}\n\n${body()}` : "";
  return [
    "# Benchmark results",
    circumstances(result),
    part("Targets", result.targets, () => targetsTable(result.targets)),
    part("Rates, and what a job costs", withCosts([...compared, ...alone]), () =>
      [legend, ...costsTables(withCosts(compared), withCosts(alone), titles)].join("\n\n"),
    ),
    part("Other medians", without(compared), () => comparisonTable(without(compared), titles)),
    part("Other medians of one alone", without(alone), () => aloneTable(without(alone), titles)),
    part("Curves", points, () =>
      curvesOf(points)
        .map((one) => `### ${one.title}\n\n${curveTable(one, titles)}`)
        .join("\n\n"),
    ),
    part("Ageing", aged, () => ageingTable(aged)),
    part("Failures", result.failures, () => result.failures.map(firstLine).join("\n")),
    part("Rounds", result.rows, () => roundsTable(result.rows, titles)),
  ]
    .filter((text) => text !== "")
    .join("\n\n")
    .concat("\n");
}

const legend =
  "CPU is processor time of all threads and processes, for one job: of the client (who adds and works; over HTTP only " +
  "the server), of PostgreSQL's processes and of Redis. Waited is how long these could run and had no core. The WAL is " +
  "for one job too, the fsyncs for 1,000: jobs that commit together share them.";

/** A table for each scenario that several variants have, and one of the figures that only one has. */
function costsTables(compared: readonly Row[], alone: readonly Row[], titles: Titles): string[] {
  const tables = [...Map.groupBy(compared, ({ scenario }) => scenario)].map(
    ([scenario, rows]) => `### ${scenario}\n\n${comparedWithCosts(rows, titles)}`,
  );
  for (const [variant, rows] of Map.groupBy(alone, (row) => row.variant))
    tables.push(`### ${titles[variant] ?? variant} alone\n\n${aloneWithCosts(rows)}`);
  return tables;
}

function circumstances({ command, started_at, machine, versions, rounds, jobs }: Result): string {
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `Made by \`${command}\` on ${started_at.slice(0, 10)}: ${rounds} rounds (fewer where the last table has fewer figures), ` +
      `${jobs.toLocaleString("en")} jobs.`,
    `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gb} GB, ${machine.system}; servers, clients and load ` +
      "on the same cores.",
    `${software.join(", ")}.`,
  ].join("\n\n");
}

function targetsTable(targets: readonly TargetResult[]): string {
  const lines = targets.map(({ name, ratio, target, bound, met }) => [
    name,
    ratio.toFixed(2),
    `${bound === "at least" ? "≥" : "≤"} ${target}`,
    met ? "met" : "**not met**",
  ]);
  return table(["AtlasQueue: …", "ratio", "target", ""], lines);
}

/** What several variants were measured in: a line per figure, a column per variant. */
function comparisonTable(rows: readonly Row[], titles: Titles): string {
  const variants = Object.keys(titles).filter((name) => rows.some(({ variant }) => variant === name));
  const lines = [...Map.groupBy(rows, ({ scenario }) => scenario)].map(([scenario, of]) => [
    `${scenario} (${of[0]?.unit})`,
    ...variants.map((variant) => {
      const row = of.find((one) => one.variant === variant);
      return row ? formatFigure(row.median, row.unit) : "–";
    }),
  ]);
  return table(["", ...variants.map((variant) => titles[variant] ?? variant)], lines);
}

function aloneTable(rows: readonly Row[], titles: Titles): string {
  const lines = rows.map(({ scenario, variant, unit, median }) => [
    scenario,
    titles[variant] ?? variant,
    `${formatFigure(median, unit)} ${unit}`,
  ]);
  return table(["", "variant", "median"], lines);
}

/** The figures several variants have, and those of only one. Points of curves are in neither. */
export function apart(all: readonly Row[]): { compared: Row[]; alone: Row[] } {
  const rows = all.filter(({ curve }) => !curve);
  const variants = Map.groupBy(rows, ({ scenario }) => scenario);
  const isCompared = ({ scenario }: Row) => (variants.get(scenario)?.length ?? 0) > 1;
  return { compared: rows.filter(isCompared), alone: rows.filter((row) => !isCompared(row)) };
}

/** How what was watched over time changed in the second half of it. */
function ageingTable(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ scenario, unit, ageing }) =>
    ageing
      ? [
          [
            scenario,
            unit,
            formatFigure(ageing.half, unit),
            formatFigure(ageing.end, unit),
            `${(ageing.growth * 100).toFixed(1)} %`,
            `${ageing.flat ? "flat" : "**not flat**"}${ageing.note === undefined ? "" : `: ${ageing.note}`}`,
          ],
        ]
      : [],
  );
  return table(["", "unit", "half-way", "at the end", "growth in the second half", ""], lines);
}

function roundsTable(rows: readonly Row[], titles: Titles): string {
  const lines = rows.map(({ scenario, variant, unit, rounds, median }) => [
    scenario,
    titles[variant] ?? variant,
    unit,
    rounds.map((value) => formatFigure(value, unit)).join(" · "),
    formatFigure(median, unit),
  ]);
  return table(["scenario", "variant", "unit", "rounds", "median"], lines);
}

function firstLine(failure: string): string {
  return `- ${failure.split("\n")[0]}`;
}
