import { JobFinishedError, NotRetryableError } from "@atlasqueue/client";
import { isFinal, jobStatuses, type Job } from "@atlasqueue/contract";
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
  description: "End a job that has not finished. If it is running, its handler is told to stop. retry_job undoes it.",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: false },
  input,
  output: changed,
  run: ({ job_id: id, idempotency_key: key }, context) =>
    change(context, id, { tool: "cancel_job", action: "job.cancel", target: id, key }, async (client, call) => {
      try {
        return { job: await client.cancel(id, call), changed: true };
      } catch (error) {
        if (!(error instanceof JobFinishedError)) throw error;
        const job = await client.get(id, call);
        if (job.status !== "cancelled") throw error;
        return { job, changed: false };
      }
    }),
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
    change(context, id, { tool: "retry_job", action: "job.retry", target: id, key }, async (client, call) => {
      try {
        return { job: await client.retry(id, call), changed: true };
      } catch (error) {
        if (!(error instanceof NotRetryableError)) throw error;
        const job = await client.get(id, call);
        if (isFinal(job.status)) throw error;
        return { job, changed: false };
      }
    }),
});

type Done = { job: Job; changed: boolean };

async function change(
  context: Context,
  id: string,
  act: Parameters<typeof once>[1],
  run: (...asked: Parameters<Parameters<typeof once>[2]>) => Promise<Done>,
): Promise<z.output<typeof changed>> {
  const outcome = await once(context, act, run);
  const { job, changed: did } = outcome.repeated
    ? { job: await context.client.get(id, { signal: context.signal }), changed: false }
    : outcome.done;
  return { job_id: id, status: job.status, changed: did };
}
