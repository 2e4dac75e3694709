import type { JobStatus, Queue } from "@atlasqueue/contract";
import { plain } from "../output/plain.ts";
import { alignedLines } from "../output/table.ts";
import { waitOf } from "../queues/columns.ts";
import type { Look } from "./rates.ts";

const shown: JobStatus[] = ["scheduled", "blocked", "queued", "running", "failed", "dead"];

/** What the screen shows: the busiest queues that fit, under a line about all of them. */
export function frame(look: Look, rates: ReadonlyMap<string, number>, size: { width: number; lines: number }): string {
  const sum = (status: JobStatus) => look.queues.reduce((total, { counts }) => total + (counts[status] ?? 0), 0);
  const rate = [...rates.values()].reduce((total, one) => total + one, 0);
  const time = new Date(look.at_ms).toISOString().slice(11, 19);
  const totals = `${time}  ${look.queues.length} queues  ${sum("queued")} queued  ${sum("running")} running  ${sum("dead")} dead  ${rate.toFixed(1)}/s`;
  const busiest = look.queues.toSorted((a, b) => weight(b, rates) - weight(a, rates) || (a.queue < b.queue ? -1 : 1));
  const room = Math.max(1, size.lines - 4);
  const rows = busiest.slice(0, room).map((queue) => [
    // Not a separate column, so that the headings fit 80 columns.
    `${plain(queue.queue)}${queue.paused ? " (paused)" : ""}`,
    ...shown.map((status) => String(queue.counts[status] ?? 0)),
    (rates.get(queue.queue) ?? 0).toFixed(1),
    waitOf(queue, look.at_ms),
  ]);
  const more = busiest.length > room ? [`… and ${busiest.length - room} more`] : [];
  return [totals, "", ...alignedLines(["queue", ...shown, "done/s", "waiting"], rows, size.width), ...more].join("\n");
}

function weight({ queue, counts }: Queue, rates: ReadonlyMap<string, number>): number {
  return (counts.running ?? 0) + (counts.queued ?? 0) + (rates.get(queue) ?? 0);
}
