import { jobStatuses } from "@atlasqueue/contract";
import { getTableColumns, getTableName, is, Table } from "../database/drizzle.ts";
import * as schema from "../database/schema/index.ts";

/** A tenant itself stays in the home cell, whichever cell has its jobs. */
export const home_tables = ["tenants", "tokens", "sessions"];

/** Counted anew from the jobs: `queue_changes` has a row for each queue. */
export const counted_tables = ["queue_counts", "queue_changes"];

/** By which of its columns a row belongs to a job. */
const jobColumns: Readonly<Record<string, string>> = {
  jobs: "id",
  job_attempts: "job_id",
  job_state: "job_id",
  flow_jobs: "job_id",
  flow_edges: "child",
  idempotency_keys: "job_id",
  outbox: "key::uuid",
};
const ofFlows = (ids: string) => `id IN (SELECT flow_id FROM atlasqueue.jobs WHERE id = ANY(${ids}))`;

/** They are given anew where they go, in the same order: those of the other cell belong to other tenants' rows. */
const isSerial = (column: { columnType: string }) => column.columnType === "PgBigSerial53";

/**
 * A table whose rows go with their tenant. `ofJobs` is the condition for those that belong to some jobs; null if they are
 * the tenant's. `isLeft`: the row belongs to a job that is still here.
 */
export type MovedTable = {
  name: string;
  columns: readonly string[];
  order: string;
  ofJobs: ((ids: string) => string) | null;
  isLeft: string | null;
};

/** All that a tenant has in a cell, jobs first. */
export const movedTables: readonly MovedTable[] = Object.values(schema)
  .filter((table) => is(table, Table))
  .flatMap((table): MovedTable[] => {
    const name = getTableName(table);
    const columns = Object.values(getTableColumns(table));
    const names = columns.map((column) => column.name);
    if (!names.includes("tenant") || [...home_tables, ...counted_tables].includes(name)) return [];
    const job = jobColumns[name];
    const order = columns.some(isSerial) ? " ORDER BY id" : "";
    const isLeft = job && `EXISTS (SELECT FROM atlasqueue.jobs WHERE jobs.id = ${name}.${job})`;
    return [
      {
        name,
        columns: columns.filter((column) => !isSerial(column)).map((column) => column.name),
        order,
        ofJobs: name === "flows" ? ofFlows : job ? (ids) => `${job} = ANY(${ids})` : null,
        isLeft:
          name === "flows" ? "EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_id = flows.id)" : (isLeft ?? null),
      },
    ];
  })
  .toSorted((a, b) => Number(b.name === "jobs") - Number(a.name === "jobs"));

/** The columns of `queue_changes`, and a row for each queue of the jobs under a condition. */
export const countColumns = ["tenant", "queue", ...jobStatuses];
export const countsOf = (condition: string) => {
  const counts = jobStatuses.map((status) => `count(*) FILTER (WHERE status = '${status}')`);
  return `SELECT tenant, queue, ${counts.join(", ")} FROM atlasqueue.jobs WHERE ${condition} GROUP BY tenant, queue`;
};
