import { z } from "zod";
import { jobsFilter } from "./acts.ts";
import { jsonObject } from "./job.ts";
import { listJobsQuery } from "./listing.ts";
import { actor, replay } from "./replay.ts";
import { describeFields } from "../checks/field-texts.ts";

const which = "give a filter with at least one field, or all: true";

/** The body of `POST /v1/operations`: what is done, and to which jobs. */
export const createOperation = describeFields(
  z.strictObject({
    kind: z.enum(["cancel", "retry", "delete", "purge"]).describe('"cancel", "retry", "delete" or "purge"'),
    filter: jobsFilter.optional().describe("an object with at least one of the fields of the jobs list"),
    all: z.literal(true).optional().describe("true, when every job is meant"),
    cursor: z.string().min(1).max(512).optional().describe("the cursor of a dry run of the same kind and filter"),
    dry_run: z.boolean().default(false).describe("true or false"),
  }),
  {
    kind: "What to do. `delete` removes finished jobs, `purge` waiting ones too.",
    filter: "Which jobs to change. All of its fields must match.",
    all: "Change all jobs.",
    cursor: "Leave out jobs that were submitted after a dry run.",
    dry_run: "Only count the jobs, and change nothing.",
  },
)
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
export const operationPreview = describeFields(
  z.strictObject({
    total: count,
    total_complete: z.boolean(),
    cursor: z.string(),
  }),
  {
    total: "How many jobs the operation would change.",
    total_complete: "False if there may be more than `total`.",
    cursor: "Send it with the operation to leave out jobs that are submitted after this count.",
  },
);
export type OperationPreview = z.infer<typeof operationPreview>;

/** An operation on many jobs that goes on in the background: a bulk operation, or a replay of dead letters. */
export const operation = describeFields(
  z.strictObject({
    id: z.uuid(),
    kind: z.enum(["replay", ...createOperation.shape.kind.options]),
    status: replay.shape.state,
    filter: jsonObject,
    total: count,
    total_complete: z.boolean(),
    done: count,
    failed: count,
    created_by: actor,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  }),
  {
    id: "The operation's id.",
    kind: "What is done to the jobs.",
    status: "`running`, `paused`, `done` or `cancelled`.",
    filter: "Which jobs are changed. Empty for all jobs.",
    total: "How many jobs matched at the start.",
    total_complete: "False if there were more than `total`.",
    done: "How many jobs were changed so far.",
    failed: "How many jobs were not changed, because other transactions had locked them. Known at the end.",
    created_by: "Who started the operation.",
    created_at: "When the operation was started.",
    updated_at: "When the operation changed last.",
    finished_at: "When the operation ended. Null before.",
  },
);
export type Operation = z.infer<typeof operation>;

/** The query of `GET /v1/operations`. */
export const listOperationsQuery = listJobsQuery.pick({ limit: true, cursor: true });
export const operationPage = describeFields(
  z.strictObject({ items: z.array(operation), next_cursor: z.string().nullable() }),
  {
    items: "The operations, newest first.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type OperationPage = z.infer<typeof operationPage>;
