import { formatNumber, table } from "../report/format.ts";
import { verdictOf, type Commit, type Comparison, type Ratio } from "./comparison.ts";

/** A comparison as a page: a table for each figure, with what the interval allows to say. */
export function renderComparison(comparison: Comparison): string {
  const { a, b, command, started_at, machine, jobs, ratios, failures } = comparison;
  const tables = [...Map.groupBy(ratios, ({ scenario }) => scenario)].map(
    ([scenario, of]) => `## ${scenario}\n\n${ratioTable(of)}`,
  );
  return [
    "# Two commits compared",
    `Made by \`${command}\` on ${started_at.slice(0, 10)}, ${jobs.toLocaleString("en")} jobs a measurement, on ` +
      `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gb} GB, ${machine.system}.`,
    `- A: ${named(a)}\n- B: ${named(b)}`,
    ...tables,
    failures.length > 0 ? `## Failures\n\n${failures.map((one) => `- ${one.split("\n")[0]}`).join("\n")}` : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

const named = ({ name, sha, subject }: Commit) => `\`${name}\` (${sha.slice(0, 10)}, ${subject})`;

function ratioTable(ratios: readonly Ratio[]): string {
  const lines = ratios.map((one) => [
    one.of,
    formatNumber(one.a),
    formatNumber(one.b),
    one.ratio.toFixed(3),
    one.interval ? `${one.interval.low.toFixed(3)} to ${one.interval.high.toFixed(3)}` : "–",
    String(one.pairs.length),
    verdictOf(one),
  ]);
  return table(["", "A", "B", "B ÷ A", "95 % interval", "pairs", "B is"], lines, true);
}
