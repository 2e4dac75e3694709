import type { Row } from "./result.ts";

/** Three significant digits: no benchmark is more precise. */
export function formatFigure(value: number, unit: Row["unit"]): string {
  if (unit === "% of a core" || unit === "×") return value.toFixed(2);
  if (unit === "ms" || unit === "s") return value.toFixed(value < 10 ? 2 : 1);
  return formatNumber(value);
}

export function formatNumber(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

/** A table of Markdown. The first column holds words; with `numbers` all others are numbers, and aligned as such. */
export function table(head: readonly string[], lines: readonly (readonly string[])[], numbers = false): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, at) => (numbers && at > 0 ? "--:" : "---"));
  return [line(head), line(rule), ...lines.map(line)].join("\n");
}
