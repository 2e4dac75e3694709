import { boolean, index, integer, primaryKey, text, uuid, atlasqueue, json } from "../drizzle.ts";
import type { OnParentFailure } from "@atlasqueue/contract";

/**
 * What a job is in its flow, jobs that were submitted together and wait for one another: written when it is submitted.
 * See decisions/2026-11-22-flows.md.
 */
export const flowJobs = atlasqueue.table(
  "flow_jobs",
  {
    tenant: text().notNull(),
    job_id: uuid().primaryKey(),
    flow_id: uuid().notNull(),
    /** Its place in the request; those that a running job adds come after. */
    place: integer().notNull(),
    ref: text(),
    on_parent_failure: text().$type<OnParentFailure>().notNull(),
    /**
     * Whom it waits for, in the order of the request; `ref` is the id for one that was there before, or was added by a
     * running job. The job that added it comes first, and was never waited for.
     */
    parents: json<{ ref: string; id: string }[]>().notNull(),
    /** The parent because of which it was cancelled: should that one succeed after all, it comes back. */
    cancelled_by: uuid(),
  },
  // A tenant's flows, newest first, and the jobs of one.
  (row) => [index("flow_jobs_of_flow").on(row.tenant, row.flow_id, row.place)],
);

/**
 * One row for each parent that a job still waits for. A job is ready when none is left. Rows are added by the statement
 * that makes the child, and by a parent that adds others to be waited for as it ends: never to a job that has none.
 */
export const flowEdges = atlasqueue.table(
  "flow_edges",
  {
    tenant: text().notNull(),
    parent: uuid().notNull(),
    child: uuid().notNull(),
    on_parent_failure: text().$type<OnParentFailure>().notNull(),
    /** The parent failed, and the child is to be cancelled for it, unless a person had that one start anew since. */
    failed: boolean().notNull().default(false),
  },
  (row) => [
    primaryKey({ columns: [row.parent, row.child] }),
    // What a child still waits for, and whether a parent of it has failed.
    index("flow_edges_of_child").on(row.child, row.failed),
  ],
);
