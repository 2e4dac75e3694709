import { Argument, Command } from "@commander-js/extra-typings";
import { cpu } from "./cpu.ts";
import { idle } from "./idle.ts";
import { outage } from "./outage.ts";
import { simulate } from "./simulate.ts";

// pnpm bench:cells: what cells cost. Without a word, it prints the tables of the guide's operate/many-cells.
const tell = (line: string) => void process.stdout.write(`${line}\n`);
const runs = {
  simulate: async () => tables(),
  cpu: (seconds: number) => cpu(seconds, tell),
  idle: (seconds: number) => idle(seconds, tell),
  outage: (seconds: number) => outage(seconds, tell),
};

await new Command("pnpm bench:cells")
  .description(
    "simulate: 200 cells on paper. cpu: of a job, with four cells and with one. idle: an API with 50 cells. outage: the p99 of " +
      "two cells while the server of two others is down.",
  )
  .addArgument(
    new Argument("[what]").choices(["simulate", "cpu", "idle", "outage"] as const).default("simulate" as const),
  )
  .option("--seconds <n>", "of each measurement", Number, 60)
  .action((what, { seconds }) => runs[what](seconds))
  .parseAsync(process.argv.slice(2), { from: "user" });

function tables(): void {
  for (const { title, rows } of simulate()) {
    const [left, right] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const line = (what: string, value: string) => `| ${what.padEnd(left ?? 0)} | ${value.padEnd(right ?? 0)} |`;
    const table = [
      line("", ""),
      line("-".repeat(left ?? 0), "-".repeat(right ?? 0)),
      ...rows.map((row) => line(...row)),
    ];
    tell(`## ${title}\n\n${table.join("\n")}\n`);
  }
}
