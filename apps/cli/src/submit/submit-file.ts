import { basename } from "node:path";
import { limits } from "@atlasqueue/contract";
import { exitCodes } from "../exit.ts";
import type { JobFields } from "./job-fields.ts";
import { openInput } from "./open-input.ts";
import type { Target } from "./post-job.ts";
import { showProgress } from "./progress.ts";
import { readLines } from "./read-lines.ts";
import { submitLines } from "./submit-lines.ts";
import { isComplete, summaryText } from "./summary.ts";

export type FileOptions = {
  target: Target;
  /** A path, or "-" for stdin. */
  file: string;
  key_prefix: string;
  concurrency: number;
  defaults: JobFields;
  json: boolean;
  write: (text: string) => void;
};

/** Submit the jobs of an NDJSON file, print the summary, and resolve to the exit code. */
export async function submitFile(options: FileOptions): Promise<number> {
  const { chunks, bytes_total, close } = await openInput(options.file);
  const file_name = options.file === "-" ? "stdin" : basename(options.file);
  const progress = showProgress(process.stderr, bytes_total);
  const summary = await submitLines(readLines(chunks, limits.body_bytes_max), {
    target: options.target,
    concurrency: options.concurrency,
    context: { file_name, key_prefix: options.key_prefix, defaults: options.defaults },
    close,
    onLine: (line, so_far) => progress.update(line.end_offset, so_far),
  }).finally(() => progress.stop());
  options.write(
    options.json ? `${JSON.stringify({ file: file_name, ...summary })}\n` : summaryText(file_name, summary),
  );
  return isComplete(summary) ? exitCodes.ok : exitCodes.failed;
}
