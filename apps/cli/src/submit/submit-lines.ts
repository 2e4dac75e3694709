import type { Client } from "@atlasqueue/client";
import { Trouble } from "../exit.ts";
import { lineJob, type LineContext } from "./line-job.ts";
import { patientClient, postJob, type Posted, type Target } from "./post-job.ts";
import type { Line } from "./read-lines.ts";
import { count, emptySummary, type Summary } from "./summary.ts";

export type LinesOptions = {
  target: Target;
  /** Requests at once. */
  concurrency: number;
  context: LineContext;
  /** No more lines are wanted: ends the wait for the next one. */
  close: () => void;
  /** Called after each line. */
  onLine: (line: Line, summary: Summary) => void;
};

/**
 * Submit a job for every line, several at once; it reads only as far ahead as there are requests in flight. A bad line
 * is counted and skipped; an API that is away for too long ends it, and so does input that can be read no further, after
 * what was read before.
 */
export async function submitLines(lines: AsyncGenerator<Line>, options: LinesOptions): Promise<Summary> {
  const summary = emptySummary();
  const client = patientClient(options.target);
  let lines_read = 0;
  const nextLine = async (): Promise<Line | undefined> => {
    try {
      const { done, value: line } = await lines.next();
      if (done) return undefined;
      lines_read = line.number;
      return line;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      // Closed after an earlier line has given up, this changes nothing: the first one counts.
      count(summary, lines_read + 1, { kind: "gave_up", reason: error.message });
      return undefined;
    }
  };
  const sendOn = async () => {
    try {
      while (summary.gave_up === null) {
        const line = await nextLine();
        if (line === undefined) return;
        if ("text" in line && line.text.trim() === "") continue;
        count(summary, line.number, await submitLine(client, line, options));
        options.onLine(line, summary);
      }
    } finally {
      // Where one ends there is no more to do, and the others may wait for a line that never comes.
      options.close();
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, sendOn));
  return summary;
}

async function submitLine(client: Client, line: Line, { target, context }: LinesOptions): Promise<Posted> {
  const job = "fault" in line ? line : lineJob(line.text, line.number, context);
  return "fault" in job ? { kind: "refused", reason: job.fault } : postJob(client, target, job.key, job.request);
}
