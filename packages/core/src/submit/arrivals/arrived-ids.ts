import { uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

type Id = { id: string };

/** Arrived jobs waiting to be admitted, after an id, in id order, which is the order they came in. */
export async function arrivedAfter(deps: Pick<Deps, "database">, after: string, ids_max: number): Promise<string[]> {
  const rows = await executeOn(deps.database)<Id>({ text: following, params: [after, ids_max] });
  return rows.map(({ id }) => id);
}

/** Those of the ids that wait to be admitted, and those ahead of them in their groups, in the order they came in. */
export async function arrivedUpTo(
  deps: Pick<Deps, "database">,
  ids: readonly string[],
  ids_max: number,
): Promise<string[]> {
  const rows = await executeOn(deps.database)<Id>({ text: upTo, params: [uuidArray(ids), ids_max] });
  return rows.map(({ id }) => id);
}

const following = "SELECT job_id AS id FROM arrivals WHERE job_id > $1::uuid ORDER BY job_id LIMIT $2::int";

const upTo = `
  SELECT job_id AS id FROM arrivals WHERE job_id = ANY($1::uuid[])
  UNION
  SELECT earlier.job_id FROM arrivals AS own, LATERAL (
    SELECT job_id FROM arrivals AS other
    WHERE other.tenant = own.tenant AND other.queue = own.queue AND other.group_key = own.group_key AND other.job_id < own.job_id
    ORDER BY job_id LIMIT $2::int) AS earlier
  WHERE own.job_id = ANY($1::uuid[])
  ORDER BY id LIMIT $2::int`;
