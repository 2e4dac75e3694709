import { writeFile } from "node:fs/promises";
import { bench, titles } from "./bench.ts";
import { readBenchConfig } from "./config.ts";
import { renderChart } from "./report/chart.ts";
import { renderMarkdown } from "./report/markdown.ts";

const args = process.argv.slice(2);
const config = readBenchConfig(args);
const command = ["pnpm bench", ...args].join(" ");
const result = await bench(config, command, (line) => process.stderr.write(`${line}\n`));
const markdown = renderMarkdown(result, titles);
process.stdout.write(`\n${markdown}`);
if (config.json !== undefined) await writeFile(config.json, `${JSON.stringify(result, null, 2)}\n`);
if (config.markdown !== undefined) await writeFile(config.markdown, markdown);
if (result.failures.length > 0) process.exitCode = 1;
if (config.chart !== undefined) await writeFile(config.chart, await renderChart(result.rows, titles));
