import { z } from "zod";
import { jsonObject, jobId, timestamp } from "./job.ts";
import { listJobsQuery } from "./listing.ts";
import { actor } from "./replay.ts";
import { describeFields } from "../checks/field-texts.ts";

const target_chars_max = 256;
const timeAccepts = "an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z";

/** The query of `GET /v1/audit`. */
export const listAuditQuery = describeFields(
  z.strictObject({
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
  }),
  {
    action: "Only entries of this action.",
    token: "Only entries of this token.",
    target: "Only entries about this target.",
    after: "Only entries after this time.",
    before: "Only entries before this time.",
    limit: "How many entries a page has at most.",
    cursor: "Continue where an earlier page ended.",
  },
);

/** Something that was done. */
export const auditEntry = describeFields(
  z.strictObject({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor,
    action: z.string(),
    target: z.string().nullable(),
    count: z.int().nullable(),
    detail: jsonObject.nullable(),
    request_id: z.string().nullable(),
    address: z.string().nullable(),
    refused: z.int().nullable(),
    finished: z.boolean(),
  }),
  {
    id: "The entry's id.",
    at: "When it happened.",
    actor: "Who did it.",
    action: "What was done. Newer servers may have more actions.",
    target: "What it was done to: a queue, a schedule, an id. Null if there is none.",
    count: "How many things were changed. Null if that does not apply.",
    detail: "The request, where the target does not show it. Null otherwise.",
    request_id: "The request's id in the server's log. Null for the command line.",
    address: "The address the request came from. Null for the command line.",
    refused:
      "How many requests of the token were refused for a missing scope since its last such entry. Null if the action was allowed.",
    finished: "False while the action is under way, or if its process died: the action may have been done or not.",
  },
);
export type AuditEntry = z.infer<typeof auditEntry>;
export const auditPage = describeFields(
  z.strictObject({ items: z.array(auditEntry), next_cursor: z.string().nullable() }),
  {
    items: "The entries, newest first.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type AuditPage = z.infer<typeof auditPage>;
