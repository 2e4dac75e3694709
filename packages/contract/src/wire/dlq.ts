import { z } from "zod";
import { jobId, jobType, queueName, tag, timestamp } from "./job.ts";
import { limits } from "../checks/limits.ts";
import { fingerprint, listJobsQuery } from "./listing.ts";
import { describeFields } from "../checks/field-texts.ts";

/** The query of `GET /v1/dlq`, which answers with a `jobPage`, the most recently dead first. */
export const listDeadQuery = listJobsQuery.pick({
  queue: true,
  type: true,
  fingerprint: true,
  limit: true,
  cursor: true,
});

/** The query of `GET /v1/dlq/groups`. */
export const listDeadGroupsQuery = listJobsQuery.pick({ type: true, limit: true, cursor: true });

/** Dead letters of one type that died of errors with one pattern. */
export const deadGroup = describeFields(
  z.strictObject({
    type: z.string(),
    fingerprint,
    error: z.string(),
    count: z.int().min(1),
    count_complete: z.boolean(),
    first_seen: z.iso.datetime(),
    last_seen: z.iso.datetime(),
    sample_job_id: z.uuid(),
    per_hour: z.array(z.int().min(0)).length(24),
  }),
  {
    type: "The type of the jobs.",
    fingerprint: "A short name of the error's pattern. Lists and replays can filter by it.",
    error: "The first line of the error, without what differs from job to job.",
    count: "How many dead letters the group has.",
    count_complete: "False if there may be more. `count` and `per_hour` are then lower bounds.",
    first_seen: "When the first job of the group died.",
    last_seen: "When the last job of the group died.",
    sample_job_id: "The job that died last.",
    per_hour: "How many jobs died in each of the last 24 hours, the current one last.",
  },
);
export type DeadGroup = z.infer<typeof deadGroup>;
export const deadGroupPage = describeFields(
  z.strictObject({ items: z.array(deadGroup), next_cursor: z.string().nullable() }),
  {
    items: "The groups, by type and error.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type DeadGroupPage = z.infer<typeof deadGroupPage>;

const which = "give ids, or any of queue, type, tag, fingerprint, died_after and died_before, or all: true";
const timeAccepts = "an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z";

/** Which dead letters: each field may be left out, but not all of them. */
export const deadChoice = describeFields(
  z.strictObject({
    ids: z
      .array(jobId)
      .min(1)
      .max(limits.bulk_ids_max)
      .optional()
      .describe(`a list of 1 to ${limits.bulk_ids_max} ids`),
    queue: queueName.optional().describe(queueName.description ?? ""),
    type: jobType.optional().describe(jobType.description ?? ""),
    tag: tag.optional().describe(tag.description ?? ""),
    fingerprint: fingerprint.optional().describe(fingerprint.description ?? ""),
    died_after: timestamp.optional().describe(timeAccepts),
    died_before: timestamp.optional().describe(timeAccepts),
    all: z.literal(true).optional().describe("true, when every dead letter is meant"),
  }),
  {
    ids: "Choose dead letters by their ids.",
    queue: "Choose dead letters of this queue.",
    type: "Choose dead letters of this type.",
    tag: "Choose dead letters with this tag.",
    fingerprint: "Choose dead letters whose error has this pattern.",
    died_after: "Choose jobs that died after this time.",
    died_before: "Choose jobs that died before this time.",
    all: "Choose all dead letters.",
  },
).shape;
type Choice = { [Name in keyof typeof deadChoice]?: unknown };

export function checkChoice({ ids, all, ...traits }: Choice, fault: (message: string) => void): void {
  const traits_given = Object.entries(traits).some(([name, value]) => name in deadChoice && value !== undefined);
  const ways = [ids !== undefined, traits_given, all !== undefined].filter(Boolean).length;
  if (ways === 0) fault(`must not be without a choice: ${which}`);
  if (ways > 1) fault(`must not choose in several ways: ${which}`);
}

const no_traits = { queue: false, type: false, tag: false, fingerprint: false, died_after: false, died_before: false };
export const oneWay = {
  dependentSchemas: {
    ids: { properties: { ...no_traits, all: false } },
    all: { properties: { ids: false, ...no_traits } },
  },
};

/**
 * The body of `POST /v1/dlq/replay` and `/v1/dlq/purge`: which dead letters. An empty one is refused, so that no slip
 * purges everything.
 */
export const bulkRequest = describeFields(
  z.strictObject({ ...deadChoice, dry_run: z.boolean().default(false).describe("true or false") }),
  {
    dry_run: "Only count the dead letters, and change nothing.",
  },
)
  .superRefine((given, context) => checkChoice(given, (message) => context.addIssue({ code: "custom", message })))
  .meta(oneWay);
export type BulkRequestInput = z.input<typeof bulkRequest>;
export type BulkRequest = z.output<typeof bulkRequest>;

/** `changed` is less than `matched` when the request ran out of time, or another one held some: ask again. */
export const bulkAnswer = describeFields(
  z.strictObject({
    matched: z.int().min(0),
    changed: z.int().min(0),
    complete: z.boolean().optional(),
    died_before: z.iso.datetime().optional(),
  }),
  {
    matched: "How many dead letters matched.",
    changed: "How many were changed. If it is less than `matched`, send the request again.",
    complete: "Of a dry run: false if there may be more than `matched`.",
    died_before:
      "Of a dry run: the latest death it counted. Send it as `died_before` to leave out jobs that died since.",
  },
);
export type BulkAnswer = z.infer<typeof bulkAnswer>;
