import { jobStatuses } from "@atlasqueue/contract";
import { getTableColumns, getTableName, is, Table } from "../database/drizzle.ts";
import * as schema from "../database/schema/index.ts";

/** A tenant itself stays in the home cell, and counts are counted anew. */
export const unmoved = ["tenants", "tokens", "sessions", "queue_counts", "queue_changes"];

/** By which of its columns a row belongs to a job; other rows are the tenant's. */
const jobColumns: Readonly<Record<string, string>> = {
  jobs: "id",
  job_attempts: "job_id",
  job_state: "job_id",
  flow_jobs: "job_id",
  flow_edges: "child",
  idempotency_keys: "job_id",
  outbox: "key::uuid",
};

export type MovedTable = { name: string; columns: string; order: string; of?: string; isLeft?: string };

/**
 * What a tenant has in a cell, jobs first. `of` is what an id of a row's job is compared with, and `isLeft` the condition for
 * rows whose job is still there. Serial numbers are no part of `columns`: in the other cell they belong to other rows, so rows get new ones in
 * the same `order`.
 */
export const movedTables: readonly MovedTable[] = Object.values(schema)
  .filter((table) => is(table, Table))
  .flatMap((table): MovedTable[] => {
    const name = getTableName(table);
    const all = Object.values(getTableColumns(table));
    if (!all.some((column) => column.name === "tenant") || unmoved.includes(name)) return [];
    const kept = all.filter(({ columnType }) => columnType !== "PgBigSerial53");
    const columns = kept.map((column) => `"${column.name}"`).join(", ");
    const common = { name, columns, order: kept.length < all.length ? " ORDER BY id" : "" };
    const of = jobColumns[name];
    return [
      of ? { ...common, of, isLeft: `EXISTS (SELECT FROM atlasqueue.jobs WHERE jobs.id = ${name}.${of})` } : common,
    ];
  })
  .toSorted((a, b) => Number(b.name === "jobs") - Number(a.name === "jobs"));

/** The columns of `queue_changes`, and a row for each queue of some jobs. */
export const countColumns = `tenant, queue, ${jobStatuses.join(", ")}`;
export const countsOf = (condition: string) => {
  const counts = jobStatuses.map((status) => `count(*) FILTER (WHERE status = '${status}')`);
  return `SELECT tenant, queue, ${counts.join(", ")} FROM atlasqueue.jobs WHERE ${condition} GROUP BY tenant, queue`;
};
