import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { anyJson, job } from "../job.ts";
import { listJobsQuery, wholeNumber } from "../listing.ts";
import { jobStatuses } from "../status.ts";
import { describeFields } from "../../checks/field-texts.ts";

/** A job that another one waits or waited for. Once it has been removed, its status and result are null. */
export const parentResult = describeFields(
  z.strictObject({
    id: z.uuid(),
    status: z.enum(jobStatuses).nullable(),
    result: anyJson.nullable(),
    result_gone: z.literal(true).optional(),
  }),
  {
    id: "The parent's id.",
    status: "The parent's status. Null if it has been removed.",
    result: "The parent's result. Null if there is none.",
    result_gone: "True if the parent's result is no longer stored.",
  },
);
export type ParentResult = z.infer<typeof parentResult>;

const parentCounts = z.record(z.enum(jobStatuses), z.int().min(0));
export type ParentCounts = z.infer<typeof parentCounts>;

/** What comes with a job that waits or waited for others. */
export const parentsOfJob = describeFields(
  z.strictObject({
    parents: z.record(z.string(), parentResult),
    parent_counts: parentCounts,
    parents_complete: z.boolean(),
  }),
  {
    parents: "The jobs that this job waits or waited for, by their refs, or by their ids from before the flow.",
    parent_counts: "How many of the parents are in each status.",
    parents_complete: "False if there are more. `GET /v1/jobs/{id}/parents` has all.",
  },
);
export type ParentsOfJob = z.infer<typeof parentsOfJob>;

/** The same, for where most jobs have no parents: the fields are left out then. */
export const anyParents = parentsOfJob.partial().shape;

/** A job, and its parents if it has any. */
export const jobWithParents = job.extend(anyParents);
export type JobWithParents = z.infer<typeof jobWithParents>;

/** The query of `GET /v1/jobs/{id}/parents`. */
export const listParentsQuery = describeFields(
  z.strictObject({
    limit: wholeNumber(1, limits.parents_listed_max)
      .default(limits.parents_listed_max)
      .describe(`an integer from 1 to ${limits.parents_listed_max}`),
    cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
  }),
  {
    limit: "How many parents a page has at most.",
  },
);

/** In the order of the request. A page of large results is short: only a null `next_cursor` marks the end. */
export const parentPage = describeFields(
  z.strictObject({
    items: z.array(
      describeFields(parentResult.extend({ ref: z.string() }), {
        ref: "The name or id by which the request named the parent.",
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  {
    items: "The parents, in the order of the request.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type ParentPage = z.infer<typeof parentPage>;
