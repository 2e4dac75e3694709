import { jobStatuses } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * `jobs` is exact. `mean_bytes` is of `sampled` jobs, null when none of the tenant's was among them. `kept_bytes` are in
 * the steps and signals of all of its jobs.
 */
export type Stored = { tenant: string; jobs: number; sampled: number; mean_bytes: number | null; kept_bytes: number };

/** Pages of the jobs' table in one sample: a table of no more is read whole, of a larger one a few milliseconds' worth. */
const pages_max = 300;
/** The same of steps and signals, which have many more rows in a page. */
const kept_pages_max = 100;
/** Of a job's row and its entries in indexes, besides what the tenant sent. */
const row_bytes = 300;
/** The same of a step or a signal. */
const kept_row_bytes = 150;

/** How much these tenants store: their jobs as the moves count them, and the mean of a sample taken for all of them. */
export async function lookAtStored(deps: Pick<Deps, "database">, tenants: readonly string[]): Promise<Stored[]> {
  return [...(await executeOn(deps.database)<Stored>({ text: look, params: [textArray(tenants)] }))];
}

const columns = jobStatuses.join(", ");
const all = jobStatuses.join(" + ");

const percentOf = (table: string, pages: number) =>
  `least(100, 100.0 * ${pages} * current_setting('block_size')::int / greatest(1, pg_relation_size('atlasqueue.${table}')))`;
const kept_percent = percentOf("job_state", kept_pages_max);

// Sizes of large values come from the pointers to them, so none is read.
const look = composed(
  "quota/look",
  ["tenants"],
  `
  WITH sample AS MATERIALIZED (
    SELECT tenant, count(*) AS sampled,
           avg(${row_bytes} + pg_column_size(payload) + coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(last_error), 0)) AS mean
    FROM atlasqueue.jobs TABLESAMPLE SYSTEM ((SELECT ${percentOf("jobs", pages_max)}))
    GROUP BY tenant
  ), kept AS MATERIALIZED (
    SELECT tenant, sum(${kept_row_bytes} + pg_column_size(value)) * 100 / (SELECT ${kept_percent}) AS bytes
    FROM atlasqueue.job_state TABLESAMPLE SYSTEM ((SELECT ${kept_percent})) WHERE kind <> 'wait' GROUP BY tenant
  ), known AS (
    SELECT tenant, sum(${all}) AS jobs FROM (
      SELECT tenant, ${columns} FROM atlasqueue.queue_counts WHERE tenant = ANY($1::text[]) UNION ALL SELECT tenant, ${columns} FROM atlasqueue.queue_changes WHERE tenant = ANY($1::text[])) AS known
    GROUP BY tenant
  )
  SELECT asked.tenant, coalesce(known.jobs, 0)::float8 AS jobs, coalesce(sampled, 0)::int AS sampled, mean::float8 AS mean_bytes,
         coalesce(kept.bytes, 0)::float8 AS kept_bytes
  FROM unnest($1::text[]) AS asked(tenant) LEFT JOIN known USING (tenant) LEFT JOIN sample USING (tenant) LEFT JOIN kept USING (tenant)`,
);
