import { ConflictError, JobFinishedError, NotRetryableError, type ActOptions } from "@atlasqueue/client";
import { isFinal, jobStatuses, type ChangedJob, type Job } from "@atlasqueue/contract";
import { z } from "zod";
import { idempotency_key, job_id } from "../fields.ts";
import { once } from "../once.ts";
import { tool, type Context } from "../tool.ts";

const about = { toolset: "operate", scope: "submit" } as const;
const input = z.strictObject({ job_id, idempotency_key });
const changed = z.object({
  job_id: z.string(),
  status: z.enum(jobStatuses),
  changed: z.boolean().describe("false: it was so already, or this key had been used for it"),
});

export const cancelJob = tool({
  ...about,
  name: "cancel_job",
  title: "Cancel a job",
  description: "End a job that has not finished. If it is running, its handler is aborted. retry_job undoes it.",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: false },
  input,
  output: changed,
  run: ({ job_id: id, idempotency_key: key }, context) =>
    change(
      context,
      id,
      key,
      context.client.cancel,
      (error, { status }) => error instanceof JobFinishedError && status === "cancelled",
    ),
});

export const retryJob = tool({
  ...about,
  name: "retry_job",
  title: "Retry a job",
  description:
    "Queue a dead, cancelled or failed job again: now, with all its attempts. Its handler runs again, with all that it " +
    "does. For many dead letters of one cause, replay_dead.",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: true },
  input,
  output: changed,
  run: ({ job_id: id, idempotency_key: key }, context) =>
    change(
      context,
      id,
      key,
      context.client.retry,
      (error, { status }) => error instanceof NotRetryableError && !isFinal(status),
    ),
});

/** Do it once for the key. `soAlready` tells of a refusal whether the job is as it was wanted all the same. */
async function change(
  { client, signal }: Context,
  id: string,
  key: string,
  act: (id: string, call: ActOptions) => Promise<ChangedJob>,
  soAlready: (error: unknown, now: Job) => boolean,
): Promise<z.output<typeof changed>> {
  try {
    const { repeated, done } = await once({ signal }, key, (call) => act(id, call));
    return { job_id: id, status: done.status, changed: !repeated };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    // A token that may not read gets the API's response.
    const now = await client.get(id, { signal }).catch(() => undefined);
    if (now === undefined || !soAlready(error, now)) throw error;
    return { job_id: id, status: now.status, changed: false };
  }
}
