import { jobStatuses, type Job } from "@atlasqueue/contract";
import { z } from "zod";
import { excerpt, jsonExcerpt, type Cuts } from "../untrusted/excerpt.ts";

const time = z.iso.datetime();
const status = z.enum(jobStatuses);

/** A job in a list. */
export const jobRow = z.object({
  job_id: z.string(),
  type: z.string(),
  queue_name: z.string(),
  status,
  priority: z.int(),
  attempts: z.int(),
  retry_count: z.int(),
  max_retries: z.int(),
  error_text: z.string().nullable(),
  run_at: time,
  created_at: time,
  finished_at: time.nullable(),
});

/** All of a job. */
export const jobDetails = jobRow.extend({
  payload: z.string().describe("JSON text"),
  result: z.string().nullable().describe("JSON text"),
  progress: z.string().nullable().describe("JSON text"),
  dead_reason: z.string().nullable(),
  group: z.string().nullable(),
  tags: z.array(z.string()).nullable(),
  worker_id: z.string().nullable(),
  locked_until: time.nullable(),
  updated_at: time,
  started_at: time.nullable(),
  timeout_seconds: z.int().nullable(),
  expires_at: time.nullable(),
});

const row_error_chars_max = 200;
const name_chars_max = 300;

/** A name, which its maker chose. None is long, but each may have invisible characters. */
export function shownName(cuts: Cuts, name: string, text: string): string {
  return excerpt(cuts, text, { name, chars_max: name_chars_max });
}

/** A job in a list; `error` says how much of its error to show, and where the rest is. */
export function showRow(cuts: Cuts, job: Job, error: ErrorPart = briefly): z.output<typeof jobRow> {
  const { id, type, queue, priority, attempts, max_attempts, last_error, run_at, created_at, finished_at } = job;
  return {
    job_id: id,
    type: shownName(cuts, "type", type),
    queue_name: shownName(cuts, "queue_name", queue),
    status: job.status,
    priority,
    attempts,
    retry_count: retryCount(job),
    max_retries: max_attempts - 1,
    error_text: last_error === null ? null : excerpt(cuts, last_error, { name: `error_text of ${id}`, ...error }),
    run_at,
    created_at,
    finished_at,
  };
}
type ErrorPart = { chars_max: number; more: string };
const briefly: ErrorPart = { chars_max: row_error_chars_max, more: "get_job_details shows it" };

type Shown = {
  /** Of each part. */
  chars_max: number;
  /** Where to begin in payload and result. */
  offset?: number;
  /** How to see the rest of those, which begins at this offset. */
  more?: (offset: number) => string;
};

/** All of a job. Of its parts that are long only some, and the rest elsewhere. */
export function showDetails(
  cuts: Cuts,
  job: Job,
  { chars_max, offset = 0, more = (next) => `get_job_details with offset ${next} shows more` }: Shown,
): z.output<typeof jobDetails> {
  const larger = "get_job_details with a larger chars_max shows it";
  const json = (name: string, value: unknown) => jsonExcerpt(cuts, value, { name, chars_max, offset, more });
  const named = (name: string, text: string | null) => (text === null ? null : shownName(cuts, name, text));
  return {
    ...showRow(cuts, job, { chars_max, more: larger }),
    payload: json("payload", job.payload),
    result: job.result === null ? null : json("result", job.result),
    progress:
      job.progress === null ? null : jsonExcerpt(cuts, job.progress, { name: "progress", chars_max, more: larger }),
    dead_reason: named("dead_reason", job.dead_reason),
    group: named("group", job.group),
    tags: job.tags,
    worker_id: named("worker_id", job.worker_id),
    locked_until: job.locked_until,
    updated_at: job.updated_at,
    started_at: job.started_at,
    timeout_seconds: job.timeout_seconds,
    expires_at: job.expires_at,
  };
}

/** How many retries it has had, including one it is waiting for: the run that decided a job was none. */
function retryCount({ status: at, attempts }: Job): number {
  const ended_with_run = at === "running" || at === "succeeded" || at === "dead";
  return ended_with_run ? Math.max(attempts - 1, 0) : attempts;
}
