import { isFinal, jobStatuses, listJobsQuery } from "@atlasqueue/contract";
import { z } from "zod";
import { excerpt } from "../../untrusted/excerpt.ts";
import { cursor, chars_max, given, job_id, limit, next_cursor, queue_name } from "../fields.ts";
import { jobDetails, jobRow, showDetails, showRow } from "../job-views.ts";
import { reads, tool } from "../tool.ts";
import { waitForEnd } from "../wait-for-end.ts";

const detail_chars_max = 1_000;

const offset = z
  .int()
  .min(0)
  .max(10_000_000)
  .default(0)
  .describe("an integer from 0 to 10000000: the character of payload and result to begin with, as cut says");
const askAgain = (next: number) => `ask again with offset ${next}`;

const about = { toolset: "read", scope: "read", hints: reads } as const;

export const getJobStatus = tool({
  ...about,
  name: "get_job_status",
  title: "Get a job's status",
  description:
    "The status of one job: scheduled, blocked, queued, running, failed (it will be retried), succeeded, dead or " +
    "cancelled. wait_seconds waits for it to finish.",
  input: z.strictObject({
    job_id,
    wait_seconds: z
      .int()
      .min(0)
      .max(20)
      .default(0)
      .describe("an integer from 0 to 20: how long to wait for the job to finish"),
  }),
  output: z.object({ job_id: z.string(), status: z.enum(jobStatuses) }),
  async run({ job_id: id, wait_seconds }, context) {
    const { client, signal } = context;
    // Nothing but its status outlives a look: thousands may wait.
    const look = async () => (await client.get(id, { signal })).status;
    const now = await look();
    if (wait_seconds === 0 || isFinal(now)) return { job_id: id, status: now };
    return { job_id: id, status: (await waitForEnd(context, id, wait_seconds))?.status ?? (await look()) };
  },
});

export const getJobDetails = tool({
  ...about,
  name: "get_job_details",
  title: "Get a job",
  description:
    "All of one job: its status and times, and its payload, result and progress as JSON text. explain_job says why it " +
    "is not running, get_job_attempts how each run went.",
  input: z.strictObject({ job_id, chars_max, offset }),
  output: z.object({ job: jobDetails }),
  run: async ({ job_id: id, chars_max: chars, offset: from }, { client, signal, cuts }) => ({
    job: showDetails(cuts, await client.get(id, { signal }), { chars_max: chars, offset: from, more: askAgain }),
  }),
});

export const explainJob = tool({
  ...about,
  name: "explain_job",
  title: "Why is a job not running?",
  description:
    "Why a job is not running now: reasons with a code and a sentence each, such as a paused queue, a limit that is " +
    "used up, a group whose turn it is not, or no live worker.",
  input: z.strictObject({ job_id }),
  output: z.object({
    status: z.enum(jobStatuses),
    reasons: z.array(z.object({ code: z.string(), detail: z.string() })),
    trace_id: z.string().nullable().describe("the trace it was submitted in"),
    trace_url: z.string().nullable().describe("where people see that trace"),
  }),
  async run({ job_id: id }, { client, signal, cuts }) {
    const { status: now, reasons, trace_id, trace_url } = await client.explain(id, { signal });
    const show = (detail: string) => excerpt(cuts, detail, { name: "detail", chars_max: detail_chars_max });
    const shown = reasons.map(({ code, detail }) => ({ code, detail: show(detail) }));
    // An API from before traces has none.
    return { status: now, reasons: shown, trace_id: trace_id ?? null, trace_url: trace_url ?? null };
  },
});

const { queue, type, status, group, tag, fingerprint, created_after, created_before, worker, key, search } =
  listJobsQuery.shape;

export const listJobs = tool({
  ...about,
  name: "list_jobs",
  title: "List jobs",
  description:
    "Jobs, newest first, without their payloads. A page may be short or even empty and still have a next_cursor. " +
    "search finds a text in payload, result or error, and is slow on a long history.",
  input: z.strictObject({
    queue_name: queue_name.optional().describe(queue.description ?? ""),
    type,
    status,
    group,
    tag,
    fingerprint,
    created_after,
    created_before,
    worker_id: worker,
    idempotency_key: key,
    search,
    limit,
    cursor,
  }),
  output: z.object({ jobs: z.array(jobRow), next_cursor }),
  async run({ queue_name: of, worker_id, idempotency_key, ...filter }, { client, signal, cuts }) {
    const asked = given({ ...filter, queue: of, worker: worker_id, key: idempotency_key });
    const page = await client.page(asked, { signal });
    return { jobs: page.items.map((job) => showRow(cuts, job)), next_cursor: page.next_cursor };
  },
});
