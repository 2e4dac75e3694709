import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { bench, titles } from "./bench.ts";
import { CompareError } from "./compare/checkouts.ts";
import { compare } from "./compare/compare.ts";
import { renderComparison } from "./compare/report.ts";
import { readBenchConfig } from "./config.ts";
import { renderChart } from "./report/chart.ts";
import { renderMarkdown } from "./report/markdown.ts";
import { staleQuotes } from "./report/quotes.ts";

const args = process.argv.slice(2);
const config = readBenchConfig(args);
const command = ["pnpm bench", ...args].join(" ");
const tell = (line: string) => void process.stderr.write(`${line}\n`);

async function publish(result: { failures: string[] }, markdown: string): Promise<void> {
  process.stdout.write(`\n${markdown}`);
  if (config.json !== undefined) await writeFile(config.json, `${JSON.stringify(result, null, 2)}\n`);
  if (config.markdown !== undefined) await writeFile(config.markdown, markdown);
  if (result.failures.length > 0) process.exitCode = 1;
}

if (config.check) {
  const stale = staleQuotes((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"));
  for (const line of stale) tell(line);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else if (config.compare) {
  try {
    const comparison = await compare(config.compare, command, tell);
    await publish(comparison, renderComparison(comparison));
  } catch (error) {
    if (!(error instanceof CompareError)) throw error;
    tell(`error: ${error.message}`);
    process.exitCode = 1;
  }
} else {
  const result = await bench(config, command, tell);
  await publish(result, renderMarkdown(result, titles));
  if (config.chart !== undefined) await writeFile(config.chart, await renderChart(result.rows, titles));
}
