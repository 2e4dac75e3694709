import type { Posted } from "./post-job.ts";

type Refusal = { line: number; reason: string };

export type Summary = {
  /** Lines with one of the three outcomes below. */
  lines: number;
  created: number;
  already_there: number;
  refused: number;
  /** The first of them, in the order of the file. */
  refusals: Refusal[];
  /** Set when it stopped at this line: the API was away for too long, or no more could be read. */
  gave_up: Refusal | null;
};

const refusals_max = 20;

export function emptySummary(): Summary {
  return { lines: 0, created: 0, already_there: 0, refused: 0, refusals: [], gave_up: null };
}

/** Count what became of a line. Lines end in any order, so the list is kept sorted. */
export function count(summary: Summary, line: number, outcome: Posted): void {
  if (outcome.kind !== "gave_up") summary.lines += 1;
  switch (outcome.kind) {
    case "created":
      summary.created += 1;
      return;
    case "existing":
      summary.already_there += 1;
      return;
    case "refused":
      summary.refused += 1;
      summary.refusals.push({ line, reason: outcome.reason });
      summary.refusals.sort((a, b) => a.line - b.line);
      summary.refusals.length = Math.min(summary.refusals.length, refusals_max);
      return;
    case "gave_up":
      if (!summary.gave_up || line < summary.gave_up.line) summary.gave_up = { line, reason: outcome.reason };
      return;
    default:
      outcome satisfies never;
  }
}

export function isComplete(summary: Summary): boolean {
  return summary.refused === 0 && summary.gave_up === null;
}

/** For people. */
export function summaryText(file_name: string, summary: Summary): string {
  const { lines, created, already_there, refused, refusals, gave_up } = summary;
  const text = [
    `${file_name}: ${lines} ${lines === 1 ? "line" : "lines"}: ${created} created, ${already_there} already there, ${refused} refused`,
    ...refusals.map(({ line, reason }) => `  line ${line}: ${reason}`),
  ];
  if (refused > refusals.length) text.push(`  … and ${refused - refusals.length} more`);
  if (gave_up)
    text.push(`stopped at line ${gave_up.line}: ${gave_up.reason}; the same command goes on where it stopped`);
  return `${text.join("\n")}\n`;
}
