import type { Result, Row, TargetResult } from "./result.ts";

/** What the tables call a variant. */
export type Titles = Readonly<Record<string, string>>;

/** The whole result as a page: targets, medians, raw rounds, and what it was measured on. */
export function renderMarkdown(result: Result, titles: Titles): string {
  const { compared, alone } = apart(result.rows);
  return [
    "# Benchmark results",
    circumstances(result),
    result.targets.length > 0 ? `## Targets\n\n${targetsTable(result.targets)}` : "",
    compared.length > 0 ? `## Medians\n\n${comparisonTable(compared, titles)}` : "",
    alone.length > 0 ? `## Medians of one alone\n\n${aloneTable(alone, titles)}` : "",
    result.failures.length > 0 ? `## Failures\n\n${result.failures.map(firstLine).join("\n")}` : "",
    `## Rounds\n\n${roundsTable(result.rows, titles)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function circumstances({ command, started_at, machine, versions, rounds, jobs }: Result): string {
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `Made by \`${command}\` on ${started_at.slice(0, 10)}: ${rounds} rounds, ${jobs.toLocaleString("en")} jobs.`,
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

/** The figures several variants have, and those of only one. */
export function apart(rows: readonly Row[]): { compared: Row[]; alone: Row[] } {
  const variants = Map.groupBy(rows, ({ scenario }) => scenario);
  const isCompared = ({ scenario }: Row) => (variants.get(scenario)?.length ?? 0) > 1;
  return { compared: rows.filter(isCompared), alone: rows.filter((row) => !isCompared(row)) };
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

/** Three significant digits: no benchmark is more precise. */
export function formatFigure(value: number, unit: Row["unit"]): string {
  if (unit === "% of a core" || unit === "×") return value.toFixed(2);
  if (unit === "ms" || unit === "s") return value.toFixed(value < 10 ? 2 : 1);
  return Number(value.toPrecision(3)).toLocaleString("en");
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...lines.map(line)].join("\n");
}
