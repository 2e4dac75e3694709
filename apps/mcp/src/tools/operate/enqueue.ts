import {
  isFinal,
  isWholeJob,
  jobStatuses,
  limits,
  submitFields,
  type Job,
  type JobSubmission,
} from "@atlasqueue/contract";
import { z } from "zod";
import { chars_shown_default, given, idempotency_key, queue_name } from "../fields.ts";
import { jobDetails, showDetails } from "../job-views.ts";
import { tool } from "../tool.ts";
import { waitForEnd } from "../wait-for-end.ts";

const about = {
  toolset: "operate",
  scope: "submit",
  hints: { read_only: false, destructive: false, idempotent: true, open_world: true },
} as const;

const wait_seconds_max = 20;
/** What OpenQueue's tool had, too. */
const max_retries_default = 3;

const { payload, priority, run_at, delay_seconds, group, timeout_seconds, expires_in, tags, type } = submitFields.shape;
export const job = z.strictObject({
  // What the jobs of OpenQueue's clients are, which have none.
  type: type.default("openqueue").describe(`${type.description}: which handler runs it`),
  queue_name: queue_name.default("default").describe(queue_name.description ?? ""),
  payload: payload.describe("a JSON object, which the handler gets"),
  priority,
  max_retries: z
    .int()
    .min(0)
    .max(limits.attempts_max - 1)
    .default(max_retries_default)
    .describe(`an integer from 0 to ${limits.attempts_max - 1}: attempts after the first`),
  run_at,
  delay_seconds,
  group,
  timeout_seconds,
  expires_in,
  tags,
});

export const enqueueJob = tool({
  ...about,
  name: "enqueue_job",
  title: "Enqueue a job",
  description:
    "Submit a job; a worker with a handler for its type runs it. Where your client knows MCP tasks, the job is one (its " +
    "id is the task's), and its end is the answer; wait: false answers at once instead. Elsewhere it answers at once; " +
    `wait: true waits for the end up to ${wait_seconds_max} s.`,
  input: job.extend({
    idempotency_key,
    wait: z.boolean().optional().describe("true or false: whether to wait for the job's end"),
  }),
  output: z.object({
    job_id: z.string(),
    status: z.enum(jobStatuses),
    created: z.boolean().describe("false: this key had been used for the same job, which is the one shown"),
    job: jobDetails.optional().describe("the job at its end, if that was waited for"),
  }),
  async run({ wait, idempotency_key: key, ...wish }, context) {
    const { client, signal, cuts, takes_tasks } = context;
    const ended = (one: Job, created: boolean) => {
      const shown = showDetails(cuts, one, { chars_max: chars_shown_default });
      return { job_id: one.id, status: one.status, created, job: shown };
    };
    // What it has read is not kept while its end is waited for: thousands may wait.
    const begin = async () => {
      const { id, created, job: now } = await client.submit({ ...submission(wish), idempotency_key: key }, { signal });
      const answer = { job_id: id, status: now.status, created };
      if (!(wait ?? takes_tasks)) return { answer };
      if (!isWholeJob(now)) {
        cuts.push("job: it was submitted, but its end cannot be awaited: this token lacks the scope read");
        return { answer };
      }
      if (isFinal(now.status)) return { answer: ended(now, created) };
      return takes_tasks ? { answer: { ongoing: now } } : { id, created };
    };
    const { answer, id = "", created = false } = await begin();
    if (answer) return answer;
    const over = await waitForEnd(context, id, wait_seconds_max);
    if (over) return ended(over, created);
    cuts.push(`job: it had not ended when the wait was over; ask get_job_status with wait_seconds`);
    return { job_id: id, status: (await client.get(id, { signal })).status, created };
  },
});

export const batch_items_max = 100;

export const enqueueJobBatch = tool({
  ...about,
  name: "enqueue_job_batch",
  title: "Enqueue several jobs",
  description: `Submit up to ${batch_items_max} jobs, all or none. Jobs of a group run in the order of the list.`,
  input: z.strictObject({
    jobs: z
      .array(job)
      .min(1)
      .max(batch_items_max)
      .describe(`a list of 1 to ${batch_items_max} jobs, each as enqueue_job takes it, without a key of its own`),
    // A number is added for each job.
    idempotency_key: idempotency_key
      .max(limits.idempotency_key_chars_max - 4)
      .describe(idempotency_key.description ?? ""),
  }),
  output: z.object({
    job_ids: z.array(z.string()),
    count: z.int(),
    created: z.int().describe("how many were not there before under this key"),
  }),
  async run({ jobs, idempotency_key: key }, { client, signal }) {
    const wishes = jobs.map((wish, at) => ({ ...submission(wish), idempotency_key: `${key}#${at}` }));
    const submitted = await client.submitMany(wishes, { signal });
    return {
      job_ids: submitted.map(({ id }) => id),
      count: submitted.length,
      created: submitted.filter(({ created }) => created).length,
    };
  },
});

export function submission({ queue_name: queue, max_retries, ...rest }: z.output<typeof job>): JobSubmission {
  return given({ ...rest, queue, max_attempts: max_retries + 1 });
}
