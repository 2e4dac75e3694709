import { styleText } from "node:util";
import stringWidth from "string-width";
import { plain } from "./plain.ts";
import type { Output } from "./output.ts";

/** A column's heading, and an item's value in it. The last column is cut to fit the terminal. */
export type Columns<T> = Record<string, (item: T) => string>;

const gap = "  ";

/**
 * Items as a table for a person: aligned, under headings. For a program, on a pipe: one tab-separated line each,
 * without headings or cuts, so that `cut -f1` gives ids.
 */
export function showTable<T>(output: Output, columns: Columns<T>, items: readonly T[]): void {
  const rows = items.map((item) => Object.values(columns).map((cell) => plain(cell(item))));
  if (output.terminal) output.write(`${alignedLines(Object.keys(columns), rows, output.width).join("\n")}\n`);
  else for (const cells of rows) output.write(`${cells.join("\t")}\n`);
}

/** The lines of a table. Letters may be two columns wide, so their number is not their width. */
export function alignedLines(headings: string[], rows: string[][], width_max: number): string[] {
  const widths = headings.map((heading, at) =>
    Math.max(...[heading, ...rows.map((cells) => cells[at] ?? "")].map((text) => stringWidth(text))),
  );
  const before_last = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  const lineOf = (cells: string[]) =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cut(cell, width_max - before_last) : pad(cell, widths[at] ?? 0)))
      .join(gap)
      .trimEnd();
  return [styleText("bold", lineOf(headings), { stream: process.stdout }), ...rows.map(lineOf)];
}

function pad(text: string, width: number): string {
  return text + " ".repeat(width - stringWidth(text));
}

const cell_width_min = 10;

function cut(text: string, width_max: number): string {
  const room = Math.max(width_max, cell_width_min);
  if (stringWidth(text) <= room) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) >= room) break;
    kept += segment;
  }
  return `${kept}…`;
}
