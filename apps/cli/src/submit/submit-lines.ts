import type { Client } from "@atlasqueue/client";
import { lineJob, type LineContext } from "./line-job.ts";
import { patientClient, postJob, type Posted, type Target } from "./post-job.ts";
import type { Line } from "./read-lines.ts";
import { count, emptySummary, type Summary } from "./summary.ts";

export type LinesOptions = {
  target: Target;
  /** Requests at once. */
  concurrency: number;
  context: LineContext;
  /** Called after each line. */
  onLine: (line: Line, summary: Summary) => void;
};

/**
 * Submit a job for every line, several at once; it reads only as far ahead as there are requests in flight. A bad line
 * is counted and skipped; an API that is away for too long ends it.
 */
export async function submitLines(lines: AsyncGenerator<Line>, options: LinesOptions): Promise<Summary> {
  const summary = emptySummary();
  const client = patientClient(options.target);
  const sendOn = async () => {
    while (summary.gave_up === null) {
      const { done, value: line } = await lines.next();
      if (done) return;
      if ("text" in line && line.text.trim() === "") continue;
      count(summary, line.number, await submitLine(client, line, options));
      options.onLine(line, summary);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.concurrency }, sendOn));
  } finally {
    // Closes the file if not all of it was read.
    await lines.return(undefined);
  }
  return summary;
}

async function submitLine(client: Client, line: Line, { target, context }: LinesOptions): Promise<Posted> {
  const job = "fault" in line ? line : lineJob(line.text, line.number, context);
  return "fault" in job ? { kind: "refused", reason: job.fault } : postJob(client, target, job.key, job.request);
}
