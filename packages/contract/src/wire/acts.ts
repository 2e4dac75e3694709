import { z } from "zod";
import { limits } from "../checks/limits.ts";
import { jobId, jsonObject } from "./job.ts";
import { jobStatuses } from "./status.ts";
import { listJobsQuery } from "./listing.ts";
import { describeFields } from "../checks/field-texts.ts";

/** The body of `POST /v1/jobs/{id}/edit`. */
export const editJob = describeFields(
  z.strictObject({
    patch: jsonObject.optional().describe("a JSON object, merged into the payload: null removes a field (RFC 7396)"),
    payload: jsonObject.optional().describe("a JSON object, the whole new payload, in which null stays"),
  }),
  {
    patch: "A change to the payload.",
    payload: "A new payload.",
  },
)
  .superRefine(({ patch, payload }, context) => {
    const fault = (how: string) => `must not ${how}: give either patch or payload`;
    if (patch && payload) context.addIssue({ code: "custom", message: fault("have both") });
    if (!patch && !payload) context.addIssue({ code: "custom", message: fault("be empty") });
  })
  .meta({ minProperties: 1, dependentSchemas: { payload: { properties: { patch: false } } } });
export type EditJobInput = z.input<typeof editJob>;

/** Jobs by the fields of their list, at least one. */
export const jobsFilter = listJobsQuery
  .omit({ limit: true, cursor: true })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
    error: "must have at least one field",
  })
  .meta({ minProperties: 1 });
export type JobsFilter = z.output<typeof jobsFilter>;

const which = "give ids, or a filter with at least one field, or all: true";

/** The body of `POST /v1/jobs/bulk`: what is done, and to which jobs. */
export const bulkJobs = describeFields(
  z.strictObject({
    action: z.enum(["cancel", "retry", "delete", "purge"]).describe('"cancel", "retry", "delete" or "purge"'),
    ids: z
      .array(jobId)
      .min(1)
      .max(limits.bulk_ids_max)
      .optional()
      .describe(`a list of 1 to ${limits.bulk_ids_max} ids`),
    filter: jobsFilter.optional().describe("an object with at least one of the fields of the jobs list"),
    all: z.literal(true).optional().describe("true, when every job is meant"),
    cursor: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe("the next_cursor of the call before this one, or at first the first_cursor of a dry run"),
    dry_run: z.boolean().default(false).describe("true or false"),
  }),
  {
    action: "What to do. `delete` removes finished jobs, `purge` waiting ones too.",
    ids: "Change the jobs with these ids.",
    filter: "Change the jobs that match all of these fields.",
    all: "Change all jobs.",
    cursor: "Continue after an earlier request, or leave out jobs submitted after a dry run.",
    dry_run: "Only count the jobs, and change nothing.",
  },
)
  .superRefine(({ ids, filter, all }, context) => {
    const ways = [ids, filter, all].filter((way) => way !== undefined).length;
    if (ways === 0) context.addIssue({ code: "custom", message: `must not be without a choice: ${which}` });
    if (ways > 1) context.addIssue({ code: "custom", message: `must not choose in several ways: ${which}` });
  })
  .meta({
    dependentSchemas: {
      ids: { properties: { filter: false, all: false } },
      filter: { properties: { ids: false, all: false } },
    },
  });
export type BulkJobsInput = z.input<typeof bulkJobs>;
export type BulkJobs = z.output<typeof bulkJobs>;

/** How many jobs this call found that could be changed, and changed. Null: that was all. */
export const bulkJobsAnswer = describeFields(
  z.strictObject({
    matched: z.int().min(0),
    changed: z.int().min(0),
    next_cursor: z.string().nullable(),
    first_cursor: z.string().optional(),
  }),
  {
    matched: "How many jobs this request found that could be changed.",
    changed: "How many jobs this request changed.",
    next_cursor: "The `cursor` of the next request. Null if all are done.",
    first_cursor: "Of a dry run: send it as `cursor` to leave out jobs that are submitted since.",
  },
);
export type BulkJobsAnswer = z.infer<typeof bulkJobsAnswer>;

/** The query of `GET /v1/queues/{queue}/groups`. */
export const listHeldGroupsQuery = listJobsQuery.pick({ limit: true, cursor: true });

/** A group in which a job has its turn, and what waits for that. */
export const heldGroup = describeFields(
  z.strictObject({
    group: z.string(),
    held_by: describeFields(
      z.strictObject({
        id: z.uuid(),
        type: z.string(),
        status: z.enum(jobStatuses),
        worker_id: z.string().nullable(),
        since: z.iso.datetime(),
      }),
      {
        id: "The job's id.",
        type: "The job's type.",
        status: "The job's status.",
        worker_id: "The worker that runs it. Null if none does.",
        since: "When its status changed last.",
      },
    ),
    blocked: z.int().min(0),
    blocked_complete: z.boolean(),
  }),
  {
    group: "The group's name.",
    held_by: "The job of the group whose turn it is.",
    blocked: "How many jobs of the group wait for it.",
    blocked_complete: "False if there are more than `blocked`.",
  },
);
export type HeldGroup = z.infer<typeof heldGroup>;
export const heldGroupPage = describeFields(
  z.strictObject({ items: z.array(heldGroup), next_cursor: z.string().nullable() }),
  {
    items: "The groups in progress, by name.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type HeldGroupPage = z.infer<typeof heldGroupPage>;
