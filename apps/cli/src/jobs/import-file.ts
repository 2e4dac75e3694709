import { createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";
import { basename } from "node:path";
import { limits } from "@atlasqueue/contract";
import { AtlasQueueError, type JobSubmission } from "@atlasqueue/client";
import { exitCodes, Trouble } from "../exit.ts";
import { troubleOf } from "../remote/trouble.ts";
import { lineJob, type LineContext } from "../submit/line-job.ts";
import { openInput } from "../submit/open-input.ts";
import { patientClient, type Target } from "../submit/post-job.ts";
import { showProgress, type Progress } from "../submit/progress.ts";
import { readLines, type Line } from "../submit/read-lines.ts";
import { count, emptySummary, isComplete, summaryText, type Summary } from "../submit/summary.ts";

export type ImportOptions = {
  target: Target;
  /** A path, or "-" for stdin. */
  file: string;
  /** Receives every refused line. */
  refused: string | undefined;
  key_prefix: string;
  json: boolean;
  write: (text: string) => void;
};

/** Submit the jobs of an NDJSON file as one stream, print the summary, and resolve to the exit code. */
export async function importFile(options: ImportOptions): Promise<number> {
  const { chunks, bytes_total, close } = await openInput(options.file);
  const file_name = options.file === "-" ? "stdin" : basename(options.file);
  const report = options.refused === undefined ? undefined : await openReport(options.refused);
  const progress = showProgress(process.stderr, bytes_total);
  const lines = readLines(chunks, limits.body_bytes_max);
  const context = { file_name, key_prefix: options.key_prefix, defaults: {} };
  const summary = await importLines(lines, options.target, context, progress, report).finally(() => {
    progress.stop();
    close();
  });
  if (report) await new Promise<void>((resolve) => report.end(resolve));
  options.write(
    options.json ? `${JSON.stringify({ file: file_name, ...summary })}\n` : summaryText(file_name, summary),
  );
  return isComplete(summary) ? exitCodes.ok : exitCodes.failed;
}

/**
 * What is wrong with a line is known here, or the API says it; it ends with an API that is away for too long or refuses
 * all of it, and with a file that can be read no further, after what was read before.
 */
async function importLines(
  lines: AsyncGenerator<Line>,
  target: Target,
  context: LineContext,
  progress: Progress,
  report: WriteStream | undefined,
): Promise<Summary> {
  const summary = emptySummary();
  /** Of the jobs without an answer. */
  const places: Line[] = [];
  let lines_read = 0;
  const refuse = (line: number, reason: string) => {
    count(summary, line, { kind: "refused", reason });
    report?.write(`${JSON.stringify({ line, reason })}\n`);
  };
  async function* jobs(): AsyncGenerator<JobSubmission> {
    for await (const line of lines) {
      lines_read = line.number;
      if ("text" in line && line.text.trim() === "") continue;
      const job = "fault" in line ? line : lineJob(line.text, line.number, context);
      if ("fault" in job) {
        refuse(line.number, job.fault);
        continue;
      }
      places.push(line);
      yield { ...(job.request as JobSubmission), idempotency_key: job.key };
    }
  }
  try {
    for await (const { error, ...stored } of patientClient(target).submitStream(jobs())) {
      const line = places.shift();
      if (!line) throw new Error("an answer to no line");
      if (error) refuse(line.number, troubleOf(error, target.url, target.token));
      else if ("id" in stored)
        count(summary, line.number, { kind: stored.outcome === "created" ? "created" : "existing", job: stored });
      progress.update(line.end_offset, summary);
    }
  } catch (error) {
    if (!(error instanceof AtlasQueueError || error instanceof Trouble)) throw error;
    const reason = error instanceof Trouble ? error.message : troubleOf(error, target.url, target.token);
    count(summary, places[0]?.number ?? lines_read + 1, { kind: "gave_up", reason });
  }
  return summary;
}

async function openReport(path: string): Promise<WriteStream> {
  const report = createWriteStream(path);
  await once(report, "open").catch((error: Error) => {
    throw new Trouble(`${path} cannot be written: ${error.message}`, { cause: error });
  });
  return report;
}
