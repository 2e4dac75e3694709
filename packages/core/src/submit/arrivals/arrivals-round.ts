import { composed } from "../../database/composed.ts";
import { textArray, uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { firstId } from "../../maintenance/prune.ts";
import { bottom } from "../../queues/due-queues.ts";
import { jobs_max } from "./arrived-ids.ts";

/** Where the next sweep goes on: behind a tenant, and of each tenant that has more, behind a job. */
export type ArrivalsCursor = { tenant_after: string; after: Map<string, string> };

export const newArrivalsCursor = (): ArrivalsCursor => ({ tenant_after: bottom, after: new Map() });

const cursors_max = 10_000;

/**
 * Goes once through all arrivals from the cursor on, and moves that: each look takes a page, of which every tenant has an
 * equal share, so one with a hundred thousand holds up no other. Returns no ids once it is through.
 *
 * @example
 * const round = newRound(deps, cursor);
 * for (let ids = await round(); ids.length > 0; ids = await round()) await admitThese(deps, ids);
 */
export function newRound(deps: Pick<Deps, "database">, cursor: ArrivalsCursor): () => Promise<string[]> {
  const through = new Set<string>();
  let found_any = false;

  /** Of the tenants behind the last one. Those that it is through with start over in the next round. */
  const look = async (): Promise<string[]> => {
    if (cursor.after.size > cursors_max) cursor.after.clear();
    const after = [...cursor.after];
    const columns = [textArray(after.map(([tenant]) => tenant)), uuidArray(after.map(([, id]) => id))];
    const params = [cursor.tenant_after, textArray([...through]), ...columns];
    const found = await executeOn(deps.database)<Found>({ text, params });
    for (const { tenant, ids, more } of found) {
      const last = ids?.at(-1);
      if (more && last !== undefined) cursor.after.set(tenant, last);
      else {
        cursor.after.delete(tenant);
        through.add(tenant);
      }
    }
    cursor.tenant_after = found.length === jobs_max ? (found.at(-1)?.tenant ?? bottom) : bottom;
    return found.flatMap(({ ids }) => ids ?? []);
  };

  return async () => {
    for (;;) {
      const ids = await look();
      const is_last = cursor.tenant_after === bottom;
      if (ids.length > 0 || (is_last && !found_any)) {
        found_any = !is_last;
        return ids;
      }
      if (is_last) found_any = false;
    }
  };
}

type Found = { tenant: string; ids: string[] | null; more: boolean };

// Steps from one tenant to the next in the index, however many arrivals each has.
const text = composed(
  "submit/arrivals-round",
  ["tenant_after", "through", "tenants", "after"],
  `
  WITH RECURSIVE found AS (
    (SELECT tenant FROM atlasqueue.arrivals WHERE tenant > $1::text ORDER BY tenant, job_id LIMIT 1)
    UNION ALL
    SELECT next.tenant FROM found, LATERAL (
      SELECT tenant FROM atlasqueue.arrivals WHERE tenant > found.tenant ORDER BY tenant, job_id LIMIT 1) AS next
  ), these AS MATERIALIZED (
    SELECT tenant, tenant <> ALL($2::text[]) AS open FROM found LIMIT ${jobs_max}
  ), share AS MATERIALIZED (
    SELECT greatest(1, ${jobs_max} / greatest(1, count(*) FILTER (WHERE open))) AS jobs_max FROM these
  )
  SELECT these.tenant, page.ids, coalesce(json_array_length(page.ids) = share.jobs_max, false) AS more
  FROM these CROSS JOIN share
  LEFT JOIN unnest($3::text[], $4::uuid[]) AS came_to(tenant, after) ON came_to.tenant = these.tenant
  LEFT JOIN LATERAL (
    SELECT json_agg(job_id ORDER BY job_id) AS ids FROM (
      SELECT job_id FROM atlasqueue.arrivals
      WHERE these.open AND arrivals.tenant = these.tenant AND job_id > coalesce(came_to.after, '${firstId}'::uuid)
      ORDER BY arrivals.tenant, job_id LIMIT share.jobs_max) AS of_tenant) AS page ON true
  ORDER BY these.tenant`,
);
