import { isIdempotencyKey, jobId, limits, queueName } from "@atlasqueue/contract";
import { z } from "zod";

// Each description completes "must be …": a model reads it, and so does the error that a wrong value gets.

export const job_id = jobId.describe("a job's id, a UUID");
export const flow_id = jobId.describe("a flow's id, a UUID");
export const queue_name = queueName.describe(queueName.description ?? "");
export const lease_token = z.guid().toLowerCase().describe("the lease_token that lease_job answered with, a UUID");

const keyed = z.string().max(limits.idempotency_key_chars_max).refine(isIdempotencyKey);

/** On everything that changes the queue: the same call again, after an answer was lost, does nothing more. */
export const idempotency_key = keyed.describe(
  `a text of 1 to ${limits.idempotency_key_chars_max} printable ASCII characters that does not start with "schedule:"; a new ` +
    "one for each thing you want done, and the same one when you repeat a call whose answer you did not get",
);

export const items_max = 50;
const items_default = 20;
export const limit = z.int().min(1).max(items_max).default(items_default).describe(`an integer from 1 to ${items_max}`);
export const cursor = z.string().min(1).max(512).optional().describe("the next_cursor of the answer before this one");
export const next_cursor = z.string().nullable().describe("send it as cursor for more; null when that was all");

export const chars_shown_default = 4_000;
export const chars_shown_max = 100_000;
export const chars_max = z
  .int()
  .min(100)
  .max(chars_shown_max)
  .default(chars_shown_default)
  .describe(
    `an integer from 100 to ${chars_shown_max}: how much of payload, result, error and progress to show of each`,
  );

/** Leaves out what is undefined: the client's own fields may be left out, but not be undefined. */
export function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
