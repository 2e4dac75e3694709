import { simulate } from "./simulate.ts";

// pnpm bench:cells: prints the tables of the guide's operate/many-cells.
for (const { title, rows } of simulate()) {
  const [left, right] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (what: string, value: string) => `| ${what.padEnd(left ?? 0)} | ${value.padEnd(right ?? 0)} |`;
  const table = [line("", ""), line("-".repeat(left ?? 0), "-".repeat(right ?? 0)), ...rows.map((row) => line(...row))];
  process.stdout.write(`## ${title}\n\n${table.join("\n")}\n\n`);
}
