import { readFileSync } from "node:fs";
import { markdownOf, type Judged } from "./markdown.ts";

/**
 * Prints the figures of several runs as one page. The files are their `figures.json`.
 *
 * @example
 * report(["faults-1.json", "faults-2.json"]);
 */
export function report(files: readonly string[]): { ok: boolean } {
  const judged = files.flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as Judged[]);
  process.stdout.write(`${markdownOf(judged)}\n`);
  return { ok: judged.length > 0 };
}
