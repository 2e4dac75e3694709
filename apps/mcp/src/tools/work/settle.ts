import { jobStatuses, limits } from "@atlasqueue/contract";
import { z } from "zod";
import { given, job_id, lease_token } from "../fields.ts";
import { tool } from "../tool.ts";

const about = {
  toolset: "work",
  scope: "work",
  // The lease token makes the same call again harmless.
  hints: { read_only: false, destructive: true, idempotent: true, open_world: false },
} as const;
const output = z.object({ job_id: z.string(), status: z.enum(jobStatuses) });

export const ackJob = tool({
  ...about,
  name: "ack_job",
  title: "Acknowledge a job",
  description:
    "A leased job is done: it has succeeded, with this result. Its lease_token makes repeating the call safe.",
  input: z.strictObject({
    job_id,
    lease_token,
    result: z.json().optional().describe(`any JSON value of at most ${limits.result_bytes_max} bytes`),
  }),
  output,
  async run({ job_id: id, lease_token: token, result }, { client, signal }) {
    const { status } = await client.ack({ job: { id }, lease_token: token }, result, { signal });
    return { job_id: id, status };
  },
});

export const nackJob = tool({
  ...about,
  // Its retry runs the handler again.
  hints: { ...about.hints, open_world: true },
  name: "nack_job",
  title: "Give a job up",
  description:
    "A leased job's attempt failed. It is retried after its backoff, or after delay_seconds; with retry: false, or if it " +
    "was the last attempt, it becomes a dead letter. A repeated call returns that the lease has ended.",
  input: z.strictObject({
    job_id,
    lease_token,
    error: z.string().min(1).describe(`a string, of which ${limits.error_chars_max} characters are kept`),
    retry: z.boolean().default(true).describe("true or false; false makes the job a dead letter at once"),
    delay_seconds: z
      .number()
      .min(0)
      .max(limits.delay_seconds_max)
      .optional()
      .describe(`a number of seconds from 0 to ${limits.delay_seconds_max}`),
  }),
  output,
  async run({ job_id: id, lease_token: token, error, retry, delay_seconds }, { client, signal }) {
    const options = given({ retry, delaySeconds: delay_seconds });
    const { status } = await client.nack({ job: { id }, lease_token: token }, error, options, { signal });
    return { job_id: id, status };
  },
});

export const releaseJob = tool({
  ...about,
  name: "release_job",
  title: "Give a job back",
  description:
    "A leased job will not be finished here: it is ready again for others, in its old place, and no attempt is counted. A " +
    "repeated call returns that the lease has ended.",
  input: z.strictObject({ job_id, lease_token }),
  output,
  async run({ job_id: id, lease_token: token }, { client, signal }) {
    const { status } = await client.release({ job: { id }, lease_token: token }, { signal });
    return { job_id: id, status };
  },
});
