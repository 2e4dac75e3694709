import type { Result, Row, TargetResult } from "./result.ts";

/** What the tables call a variant. */
export type Titles = Readonly<Record<string, string>>;

/** The whole result as a page: targets, medians, raw rounds, and what it was measured on. */
export function renderMarkdown(result: Result, titles: Titles): string {
  return [
    "# Benchmark results",
    circumstances(result),
    result.targets.length > 0 ? `## Targets\n\n${targetsTable(result.targets)}` : "",
    `## Medians\n\n${mediansTable(result.rows, titles)}`,
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

function mediansTable(rows: readonly Row[], titles: Titles): string {
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))];
  const variants = Object.keys(titles).filter((name) => rows.some(({ variant }) => variant === name));
  const lines = variants.map((variant) => [
    titles[variant] ?? variant,
    ...scenarios.map((scenario) => {
      const row = rows.find((one) => one.scenario === scenario && one.variant === variant);
      return row ? formatFigure(row.median, row.unit) : "–";
    }),
  ]);
  const unitOf = (scenario: string) => rows.find((row) => row.scenario === scenario)?.unit ?? "";
  return table(["", ...scenarios.map((scenario) => `${scenario} (${unitOf(scenario)})`)], lines);
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

/** Three digits that mean something: no benchmark knows more. */
export function formatFigure(value: number, unit: Row["unit"]): string {
  if (unit === "% of a core" || unit === "×") return value.toFixed(2);
  if (unit === "ms" || unit === "s") return value.toFixed(value < 10 ? 2 : 1);
  return Number(value.toPrecision(3)).toLocaleString("en");
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...lines.map(line)].join("\n");
}
