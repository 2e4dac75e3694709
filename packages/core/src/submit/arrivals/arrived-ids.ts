import { uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { payloadBytes } from "../../lease/payload-bytes.ts";

/** `more`: there are others after this page. */
type ArrivedPage = { ids: string[]; more: boolean };

/** In a page. */
export const jobs_max = 200;
/** The most payload bytes in a page, as its jobs are read whole. The first job is in it whatever its size. */
const page_bytes_max = 4 * 1_048_576;

/**
 * Those of the ids that wait to be admitted, and those ahead of them in their groups: each tenant's in the order in which
 * they came in, tenants taking turns.
 */
export async function arrivedUpTo(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<ArrivedPage> {
  const rows = await executeOn(deps.database)<{ id: string; fits: boolean }>({ text: upTo, params: [uuidArray(ids)] });
  const fitting = rows.filter(({ fits }) => fits);
  return { ids: fitting.map(({ id }) => id), more: fitting.length < rows.length || rows.length === jobs_max };
}

/** Those of the ids that wait to be admitted, each group's together; of those without a group, each key's. */
export async function arrivedByGroup(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<string[][]> {
  const rows = await executeOn(deps.database)<{ ids: string[] }>({ text: byGroup, params: [uuidArray(ids)] });
  return rows.map((row) => row.ids);
}

const byGroup = `
  SELECT json_agg(job_id ORDER BY job_id) AS ids FROM atlasqueue.arrivals WHERE job_id = ANY($1::uuid[])
  GROUP BY tenant, queue, group_key, CASE WHEN group_key IS NULL THEN unique_key END ORDER BY min(job_id::text)`;

const upTo = `
  WITH wanted AS MATERIALIZED (
    SELECT job_id AS id, tenant FROM atlasqueue.arrivals WHERE job_id = ANY($1::uuid[])
    UNION
    SELECT earlier.job_id, own.tenant FROM atlasqueue.arrivals AS own, LATERAL (
      SELECT job_id FROM atlasqueue.arrivals AS other
      WHERE other.tenant = own.tenant AND other.queue = own.queue AND other.group_key = own.group_key AND other.job_id < own.job_id
      ORDER BY job_id LIMIT ${jobs_max}) AS earlier
    WHERE own.job_id = ANY($1::uuid[])
  ), page AS MATERIALIZED (
    SELECT id, row_number() OVER (PARTITION BY tenant ORDER BY id) AS turn FROM wanted ORDER BY turn, id LIMIT ${jobs_max}
  )
  SELECT page.id, coalesce(sum(${payloadBytes}) OVER (ORDER BY turn, page.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                  < ${page_bytes_max} AS fits
  FROM page LEFT JOIN atlasqueue.jobs ON jobs.id = page.id ORDER BY turn, page.id`;
