import { z } from "zod";
import { jobId, jobType, queueName } from "./job.ts";
import { limits } from "../checks/limits.ts";
import { listJobsQuery } from "./listing.ts";

/** The query of `GET /v1/dlq`, which answers with a `jobPage`, the most recently dead first. */
export const listDeadQuery = listJobsQuery.pick({ queue: true, type: true, limit: true, cursor: true });

const which = "give ids, or queue or type or both, or all: true";

/**
 * The body of `POST /v1/dlq/replay` and `/v1/dlq/purge`: which dead letters. An empty one is refused, so that no slip
 * purges everything.
 */
export const bulkRequest = z
  .strictObject({
    ids: z
      .array(jobId)
      .min(1)
      .max(limits.bulk_ids_max)
      .optional()
      .describe(`a list of 1 to ${limits.bulk_ids_max} ids`),
    queue: queueName.optional().describe(queueName.description ?? ""),
    type: jobType.optional().describe(jobType.description ?? ""),
    all: z.literal(true).optional().describe("true, when every dead letter is meant"),
    dry_run: z.boolean().default(false).describe("true or false"),
  })
  .superRefine(({ ids, queue, type, all }, context) => {
    const filtered = queue !== undefined || type !== undefined;
    const ways = [ids !== undefined, filtered, all !== undefined].filter(Boolean).length;
    if (ways === 0) context.addIssue({ code: "custom", message: `must not be without a choice: ${which}` });
    if (ways > 1) context.addIssue({ code: "custom", message: `must not choose in several ways: ${which}` });
  })
  .meta({
    dependentSchemas: {
      ids: { properties: { queue: false, type: false, all: false } },
      all: { properties: { ids: false, queue: false, type: false } },
    },
  });
export type BulkRequestInput = z.input<typeof bulkRequest>;
export type BulkRequest = z.output<typeof bulkRequest>;

/** `changed` is less than `matched` when the request ran out of time, or another one held some: ask again. */
export const bulkAnswer = z.strictObject({ matched: z.int().min(0), changed: z.int().min(0) });
export type BulkAnswer = z.infer<typeof bulkAnswer>;
