import { z } from "zod";
import { jsonObject, jobId, timestamp } from "./job.ts";
import { listJobsQuery } from "./listing.ts";
import { actor } from "./replay.ts";

const target_chars_max = 256;
const timeAccepts = "an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z";

/** The query of `GET /v1/audit`. */
export const listAuditQuery = z.strictObject({
  action: z
    .string()
    .regex(/^[a-z]{1,32}\.[a-z_]{1,32}$/)
    .optional()
    .describe("the name of an action, such as queue.pause"),
  token: jobId.optional().describe("the UUID of a token"),
  target: z
    .string()
    .min(1)
    .max(target_chars_max)
    .optional()
    .describe(`a string of 1 to ${target_chars_max} characters: a queue, a schedule, an id`),
  after: timestamp.optional().describe(timeAccepts),
  before: timestamp.optional().describe(timeAccepts),
  limit: listJobsQuery.shape.limit.describe(listJobsQuery.shape.limit.description ?? ""),
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});

/** Something that was done. */
export const auditEntry = z.strictObject({
  id: z.uuid(),
  at: z.iso.datetime(),
  actor,
  /** One of `auditActions`; a newer server may know more of them. */
  action: z.string(),
  /** What it was done to: a queue, a schedule, an id. */
  target: z.string().nullable(),
  /** How many things it changed. */
  count: z.int().nullable(),
  /** What was asked for, where the target does not say it. */
  detail: jsonObject.nullable(),
  /** The API's own id of the request, as its log has it. */
  request_id: z.string().nullable(),
  /** The address the request came from; null for the command line beside the database. */
  address: z.string().nullable(),
  /**
   * Null: it was allowed. Otherwise nothing was done, as the token lacks the scope, and this many calls of the token were
   * refused since its last such entry.
   */
  refused: z.int().nullable(),
  /** False while it is under way; and for good when its process died in the middle: it may have been done, or not. */
  finished: z.boolean(),
});
export type AuditEntry = z.infer<typeof auditEntry>;
export const auditPage = z.strictObject({ items: z.array(auditEntry), next_cursor: z.string().nullable() });
export type AuditPage = z.infer<typeof auditPage>;
