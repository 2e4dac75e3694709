import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { flowStates } from "./flow-states.ts";
import { onParentFailure } from "./flow.ts";
import { listJobsQuery, wholeNumber } from "../listing.ts";
import { jobStatuses } from "../status.ts";

const count = z.int().min(0);
const nullableTime = z.iso.datetime().nullable();

/** A flow as a list shows it. */
export const flow = z.strictObject({
  id: z.uuid(),
  state: z.enum(flowStates),
  created_at: z.iso.datetime(),
  /** When the last of its jobs ended; null before. */
  finished_at: nullableTime,
  /** How many jobs it has: retention removes old ones. */
  jobs: count,
  counts: z.record(z.enum(jobStatuses), count),
});
export type Flow = z.infer<typeof flow>;

/** A job as its flow shows it. */
export const flowJob = z.strictObject({
  id: z.uuid(),
  ref: z.string().nullable(),
  type: z.string(),
  queue: z.string(),
  status: z.enum(jobStatuses),
  /** The ids of the jobs it depends on; those from before the flow are none of its jobs. */
  depends_on: z.array(z.uuid()),
  on_parent_failure: onParentFailure,
  attempts: z.int(),
  max_attempts: z.int(),
  last_error: z.string().nullable(),
  started_at: nullableTime,
  finished_at: nullableTime,
});
export type FlowJob = z.infer<typeof flowJob>;

/** The query of `GET /v1/flows/{id}`. */
export const getFlowQuery = z.strictObject({
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});

/**
 * A flow with its jobs, in the order in which they were submitted. `critical_path` are the ids of the chain that its
 * end hangs, or hung, on; null for a flow of more than one page.
 */
export const flowGraph = flow.extend({
  items: z.array(flowJob),
  next_cursor: z.string().nullable(),
  critical_path: z.array(z.uuid()).nullable(),
});
export type FlowGraph = z.infer<typeof flowGraph>;

/** The query of `GET /v1/flows`. */
export const listFlowsQuery = z.strictObject({
  state: z
    .enum(flowStates)
    .optional()
    .describe(`one of ${flowStates.join(", ")}`),
  limit: wholeNumber(1, limits.flows_listed_max)
    .default(limits.flows_listed_default)
    .describe(`an integer from 1 to ${limits.flows_listed_max}`),
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});
export type ListFlowsQuery = z.output<typeof listFlowsQuery>;

/** Newest first. With a `state` a page may be short, even empty, and still have a `next_cursor`. */
export const flowPage = z.strictObject({ items: z.array(flow), next_cursor: z.string().nullable() });
export type FlowPage = z.infer<typeof flowPage>;

/** What `POST /v1/flows/{id}/cancel` and `…/retry` did. */
export const flowActAnswer = z.strictObject({ changed: count, flow });
export type FlowActAnswer = z.infer<typeof flowActAnswer>;
