import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { anyJson, job } from "../job.ts";
import { listJobsQuery, wholeNumber } from "../listing.ts";
import { jobStatuses } from "../status.ts";

/** A job that another one waits or waited for. Once it has been removed, its status and result are null. */
export const parentResult = z.strictObject({
  id: z.uuid(),
  status: z.enum(jobStatuses).nullable(),
  result: anyJson.nullable(),
  /**
   * What it made is kept no longer, as `RESULT_TTL_SECONDS` or retention have it, or it was removed; left out otherwise, and
   * of a removed one where the job runs whatever happens to its parents.
   */
  result_gone: z.literal(true).optional(),
});
export type ParentResult = z.infer<typeof parentResult>;

const parentCounts = z.record(z.enum(jobStatuses), z.int().min(0));
export type ParentCounts = z.infer<typeof parentCounts>;

/** What comes with a job that waits or waited for others. */
export const parentsOfJob = z.strictObject({
  /** By the ref that its request named each by; one from before the flow by its id. In the order of the request. */
  parents: z.record(z.string(), parentResult),
  /** Of all its parents that have not been removed: how many are in each status. */
  parent_counts: parentCounts,
  /** False when it has more parents than come with it: `GET /v1/jobs/{id}/parents` has all of them. */
  parents_complete: z.boolean(),
});
export type ParentsOfJob = z.infer<typeof parentsOfJob>;

/** The same, for where most jobs have no parents: the fields are left out then. */
export const anyParents = parentsOfJob.partial().shape;

/** A job, and its parents if it has any. */
export const jobWithParents = job.extend(anyParents);
export type JobWithParents = z.infer<typeof jobWithParents>;

/** The query of `GET /v1/jobs/{id}/parents`. */
export const listParentsQuery = z.strictObject({
  limit: wholeNumber(1, limits.parents_listed_max)
    .default(limits.parents_listed_max)
    .describe(`an integer from 1 to ${limits.parents_listed_max}`),
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});

/** In the order of the request. A page of large results is short: only a null `next_cursor` marks the end. */
export const parentPage = z.strictObject({
  items: z.array(parentResult.extend({ ref: z.string() })),
  next_cursor: z.string().nullable(),
});
export type ParentPage = z.infer<typeof parentPage>;
