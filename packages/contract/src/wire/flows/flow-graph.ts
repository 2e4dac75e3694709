import { z } from "zod";
import { limits } from "../../checks/limits.ts";
import { flowStates } from "./flow-states.ts";
import { onParentFailure } from "./flow.ts";
import { listJobsQuery, wholeNumber } from "../listing.ts";
import { jobStatuses } from "../status.ts";
import { describeFields } from "../../checks/field-texts.ts";

const count = z.int().min(0);
const nullableTime = z.iso.datetime().nullable();

/** A flow as a list shows it. */
export const flow = describeFields(
  z.strictObject({
    id: z.uuid(),
    state: z.enum(flowStates),
    created_at: z.iso.datetime(),
    finished_at: nullableTime,
    jobs: count,
    counts: z.record(z.enum(jobStatuses), count),
  }),
  {
    id: "The flow's id.",
    state:
      "`running` or `held` while some jobs are not final. `held` means that the remaining jobs depend on failed ones.",
    created_at: "When the flow was submitted.",
    finished_at: "When the last of its jobs ended. Null before.",
    jobs: "How many jobs the flow has. Retention removes old ones.",
    counts: "How many jobs are in each status.",
  },
);
export type Flow = z.infer<typeof flow>;

/** A job as its flow shows it. */
export const flowJob = describeFields(
  z.strictObject({
    id: z.uuid(),
    ref: z.string().nullable(),
    type: z.string(),
    queue: z.string(),
    status: z.enum(jobStatuses),
    depends_on: z.array(z.uuid()),
    on_parent_failure: onParentFailure,
    attempts: z.int(),
    max_attempts: z.int(),
    last_error: z.string().nullable(),
    started_at: nullableTime,
    finished_at: nullableTime,
  }),
  {
    id: "The job's id.",
    ref: "The job's name within the flow. Null if it has none.",
    type: "The job's type.",
    queue: "The job's queue.",
    status: "The job's status.",
    depends_on: "The ids of the jobs that it depends on.",
    on_parent_failure:
      "What happens if one of those is dead or cancelled: cancel the job, wait for a retry, or run anyway.",
    attempts: "How many attempts were counted so far.",
    max_attempts: "How many attempts the job may have.",
    last_error: "The error of the last attempt that failed. Null if there is none.",
    started_at: "When the last attempt began. Null before the first.",
    finished_at: "When the job ended for good. Null before.",
  },
);
export type FlowJob = z.infer<typeof flowJob>;

/** The query of `GET /v1/flows/{id}`. */
export const getFlowQuery = z.strictObject({
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});

/**
 * A flow with its jobs, in the order in which they were submitted. `critical_path` are the ids of the chain that its
 * end hangs, or hung, on; null for a flow of more than one page.
 */
export const flowGraph = describeFields(
  flow.extend({
    items: z.array(flowJob),
    next_cursor: z.string().nullable(),
    critical_path: z.array(z.uuid()).nullable(),
  }),
  {
    items: "The flow's jobs, in the order of their submission.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
    critical_path:
      "The ids of the longest chain of jobs, which decides when the flow ends. Null for a flow of more than one page.",
  },
);
export type FlowGraph = z.infer<typeof flowGraph>;

/** The query of `GET /v1/flows`. */
export const listFlowsQuery = describeFields(
  z.strictObject({
    state: z
      .enum(flowStates)
      .optional()
      .describe(`one of ${flowStates.join(", ")}`),
    limit: wholeNumber(1, limits.flows_listed_max)
      .default(limits.flows_listed_default)
      .describe(`an integer from 1 to ${limits.flows_listed_max}`),
    cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
  }),
  {
    state: "Only flows in this state.",
    limit: "How many flows a page has at most.",
  },
);
export type ListFlowsQuery = z.output<typeof listFlowsQuery>;

/** Newest first. With a `state` a page may be short, even empty, and still have a `next_cursor`. */
export const flowPage = describeFields(z.strictObject({ items: z.array(flow), next_cursor: z.string().nullable() }), {
  items: "The flows, newest first.",
  next_cursor: "The `cursor` of the next page. Null marks the end.",
});
export type FlowPage = z.infer<typeof flowPage>;

/** What `POST /v1/flows/{id}/cancel` and `…/retry` did. */
export const flowActAnswer = describeFields(z.strictObject({ changed: count, flow }), {
  changed: "How many jobs were changed.",
  flow: "The flow now.",
});
export type FlowActAnswer = z.infer<typeof flowActAnswer>;
