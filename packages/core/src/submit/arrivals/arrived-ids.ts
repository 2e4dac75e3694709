import { uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { payloadBytes } from "../../lease/payload-bytes.ts";

/** In id order, which is the order they came in. `more`: there are others after this page. */
export type ArrivedPage = { ids: string[]; more: boolean };
type Row = { id: string; fits: boolean };

/** The most payload bytes in a page, as its jobs are read whole. The first job is in it whatever its size. */
const page_bytes_max = 4 * 1_048_576;

/** Arrived jobs waiting to be admitted, after an id. */
export async function arrivedAfter(deps: Pick<Deps, "database">, after: string, ids_max: number): Promise<ArrivedPage> {
  return pageOf(await executeOn(deps.database)<Row>({ text: following, params: [after, ids_max] }), ids_max);
}

/** Those of the ids that wait to be admitted, and those ahead of them in their groups. */
export async function arrivedUpTo(
  deps: Pick<Deps, "database">,
  ids: readonly string[],
  ids_max: number,
): Promise<ArrivedPage> {
  return pageOf(await executeOn(deps.database)<Row>({ text: upTo, params: [uuidArray(ids), ids_max] }), ids_max);
}

/** Those of the ids that wait to be admitted, each group's together; of those without a group, each key's. */
export async function arrivedByGroup(deps: Pick<Deps, "database">, ids: readonly string[]): Promise<string[][]> {
  const rows = await executeOn(deps.database)<{ ids: string[] }>({ text: byGroup, params: [uuidArray(ids)] });
  return rows.map((row) => row.ids);
}

const byGroup = `
  SELECT json_agg(job_id ORDER BY job_id) AS ids FROM arrivals WHERE job_id = ANY($1::uuid[])
  GROUP BY tenant, queue, group_key, CASE WHEN group_key IS NULL THEN unique_key END ORDER BY min(job_id::text)`;

function pageOf(rows: readonly Row[], ids_max: number): ArrivedPage {
  const ids = rows.filter(({ fits }) => fits).map(({ id }) => id);
  return { ids, more: ids.length < rows.length || rows.length === ids_max };
}

const weighed = (page: string) => `
  WITH page AS MATERIALIZED (${page})
  SELECT page.id, coalesce(sum(${payloadBytes}) OVER (ORDER BY page.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                  < ${page_bytes_max} AS fits
  FROM page LEFT JOIN jobs ON jobs.id = page.id ORDER BY page.id`;

const following = weighed("SELECT job_id AS id FROM arrivals WHERE job_id > $1::uuid ORDER BY job_id LIMIT $2::int");

const upTo = weighed(`
  SELECT job_id AS id FROM arrivals WHERE job_id = ANY($1::uuid[])
  UNION
  SELECT earlier.job_id FROM arrivals AS own, LATERAL (
    SELECT job_id FROM arrivals AS other
    WHERE other.tenant = own.tenant AND other.queue = own.queue AND other.group_key = own.group_key AND other.job_id < own.job_id
    ORDER BY job_id LIMIT $2::int) AS earlier
  WHERE own.job_id = ANY($1::uuid[])
  ORDER BY id LIMIT $2::int`);
