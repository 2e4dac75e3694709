import { z } from "zod";
import { jobsFilter } from "./acts.ts";
import { jsonObject } from "./job.ts";
import { listJobsQuery } from "./listing.ts";
import { actor, replay } from "./replay.ts";

const which = "give a filter with at least one field, or all: true";

/** The body of `POST /v1/operations`: what is done, and to which jobs. */
export const createOperation = z
  .strictObject({
    kind: z.enum(["cancel", "retry", "delete", "purge"]).describe('"cancel", "retry", "delete" or "purge"'),
    filter: jobsFilter.optional().describe("an object with at least one of the fields of the jobs list"),
    all: z.literal(true).optional().describe("true, when every job is meant"),
    cursor: z.string().min(1).max(512).optional().describe("the cursor of a dry run of the same kind and filter"),
    dry_run: z.boolean().default(false).describe("true or false"),
  })
  .superRefine(({ filter, all }, context) => {
    const fault = (how: string) => context.addIssue({ code: "custom", message: `must not ${how}: ${which}` });
    if (!filter && !all) fault("be without a choice");
    if (filter && all) fault("choose in several ways");
  })
  .meta({ dependentSchemas: { filter: { properties: { all: false } } } });
export type CreateOperationInput = z.input<typeof createOperation>;
export type CreateOperation = z.output<typeof createOperation>;

const count = z.int().min(0);

/** How many jobs an operation would change now. */
export const operationPreview = z.strictObject({
  total: count,
  /** False when there are more than could be counted in time. */
  total_complete: z.boolean(),
  /** Sent with the operation, it leaves jobs that were made after this count. */
  cursor: z.string(),
});
export type OperationPreview = z.infer<typeof operationPreview>;

/** An operation on many jobs that goes on in the background: a bulk operation, or a replay of dead letters. */
export const operation = z.strictObject({
  id: z.uuid(),
  kind: z.enum(["replay", ...createOperation.shape.kind.options]),
  status: replay.shape.state,
  /** As it was given; empty for all jobs. */
  filter: jsonObject,
  /** Jobs that matched at the start. */
  total: count,
  /** False when there are more than could be counted in time. */
  total_complete: z.boolean(),
  /** Jobs that were changed so far. */
  done: count,
  /** Jobs that were not changed, because other transactions held them. Known when the operation is over. */
  failed: count,
  created_by: actor,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
});
export type Operation = z.infer<typeof operation>;

/** The query of `GET /v1/operations`. */
export const listOperationsQuery = listJobsQuery.pick({ limit: true, cursor: true });
export const operationPage = z.strictObject({ items: z.array(operation), next_cursor: z.string().nullable() });
export type OperationPage = z.infer<typeof operationPage>;
