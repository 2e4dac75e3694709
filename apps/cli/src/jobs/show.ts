import type { Attempt, Explanation, Job } from "@atlasqueue/contract";
import type { Output } from "../output/output.ts";
import { plain, second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";

export const jobColumns: Columns<Job> = {
  id: (job) => job.id,
  type: (job) => job.type,
  queue: (job) => job.queue,
  status: (job) => job.status,
  attempts: (job) => `${job.attempts}/${job.max_attempts}`,
  created: (job) => second(job.created_at),
  "last error": (job) => job.last_error ?? "",
};

const attemptColumns: Columns<Attempt> = {
  attempt: ({ attempt }) => String(attempt),
  outcome: ({ outcome }) => outcome,
  started: ({ started_at }) => second(started_at),
  finished: ({ finished_at }) => second(finished_at),
  worker: ({ worker_id }) => worker_id ?? "",
  error: ({ error }) => error ?? "",
};

/** For a person: a line for each field that is set, why it is not running, and its attempts. */
export function showJob(
  output: Output,
  job: Job,
  attempts: readonly Attempt[],
  { reasons, trace_id, trace_url }: Explanation,
): void {
  for (const [name, value] of Object.entries(job))
    if (value !== null)
      output.write(`${name.padEnd(16)}${plain(typeof value === "string" ? value : JSON.stringify(value))}\n`);
  for (const { code, detail } of reasons) output.write(`${"why".padEnd(16)}${plain(`${detail} (${code})`)}\n`);
  if (trace_id) output.write(`${"trace".padEnd(16)}${plain(trace_url ?? trace_id)}\n`);
  if (attempts.length === 0) return;
  output.write("\n");
  showTable(output, attemptColumns, attempts);
}
