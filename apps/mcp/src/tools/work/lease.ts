import { limits, workerId } from "@atlasqueue/contract";
import { z } from "zod";
import { chars_shown_max, given, lease_token, job_id, queue_name } from "../fields.ts";
import { jobDetails, showDetails } from "../job-views.ts";
import { tool } from "../tool.ts";

const about = { toolset: "work", scope: "work" } as const;

const lease_seconds = z
  .int()
  .min(1)
  .max(limits.lease_seconds_max)
  .default(300)
  .describe(`an integer of seconds from 1 to ${limits.lease_seconds_max}: how long the job is yours`);

/** All of any payload: a character of two bytes may become the six of its escape. */
const leased_chars_max = 3 * limits.payload_bytes_max;
const readOn = (next: number) =>
  `get_job_details with offset ${next} shows more, if the token may read; otherwise release_job it, and lease_job with a larger chars_max`;

export const leaseJob = tool({
  ...about,
  name: "lease_job",
  title: "Lease a job",
  description:
    "Take the next job of a queue, to do it yourself. It is yours until lease_expires_at: then ack_job, nack_job or release_job it " +
    "with its lease_token, or heartbeat to keep it. A job that is not settled in time is reclaimed, and the attempt counts. " +
    "job is null when none is ready.",
  // Each call takes another job.
  hints: { read_only: false, destructive: false, idempotent: false, open_world: false },
  input: z.strictObject({
    queue_name: queue_name.default("default").describe(queue_name.description ?? ""),
    worker_id: workerId.default("mcp").describe(`${workerId.description}: shows people who holds the job`),
    lease_seconds,
    wait_seconds: z.int().min(0).max(20).default(0).describe("an integer from 0 to 20: how long to wait for a job"),
    chars_max: z
      .int()
      .min(100)
      .max(leased_chars_max)
      .default(chars_shown_max)
      .describe(
        `an integer from 100 to ${leased_chars_max}: how much of the job's payload and other parts to show of each`,
      ),
  }),
  output: z.object({
    job: jobDetails.nullable(),
    lease_token: z.string().nullable(),
    lease_expires_at: z.iso.datetime().nullable(),
  }),
  async run({ queue_name: queue, worker_id, lease_seconds: seconds, wait_seconds, chars_max: chars }, context) {
    const options = { workerId: worker_id, leaseSeconds: seconds, waitSeconds: wait_seconds };
    const [leased] = await context.client.lease(queue, options, { signal: context.signal });
    if (!leased) return { job: null, lease_token: null, lease_expires_at: null };
    const { job, lease_token: token, locked_until } = leased;
    return {
      job: showDetails(context.cuts, job, { chars_max: chars, more: readOn }),
      lease_token: token,
      lease_expires_at: locked_until,
    };
  },
});

export const heartbeat = tool({
  ...about,
  name: "heartbeat",
  title: "Keep a leased job",
  description: "Hold a job for lease_seconds more, from now on, and report its progress.",
  hints: { read_only: false, destructive: false, idempotent: true, open_world: false },
  input: z.strictObject({
    job_id,
    lease_token,
    lease_seconds,
    progress: z
      .record(z.string(), z.json())
      .optional()
      .describe('a JSON object, such as {"percent": 40, "note": "half the files"}'),
  }),
  output: z.object({ job_id: z.string(), status: z.literal("lease_extended"), lease_expires_at: z.iso.datetime() }),
  async run({ job_id: id, lease_token: token, lease_seconds: seconds, progress }, { client, signal }) {
    const held = { job: { id }, lease_token: token };
    const { locked_until } = await client.heartbeat(held, given({ leaseSeconds: seconds, progress }), { signal });
    return { job_id: id, status: "lease_extended" as const, lease_expires_at: locked_until };
  },
});
