import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

/** `next` is where the next step goes on; undefined when all flows have been looked at. */
export type ForgottenFlows = { flows: number; next: FlowRef | undefined };
export type FlowRef = { tenant: string; id: string };
export const firstFlow: FlowRef = { tenant: "", id: "00000000-0000-0000-0000-000000000000" };

/**
 * Flows none of whose jobs is left → gone. A step looks at `flows_max` of them, tenant by tenant. A flow is
 * stored together with its first job, so none is seen before it has one.
 *
 * @example
 * const { next } = await forgetEmptyFlows(deps, firstFlow, 500);
 */
export async function forgetEmptyFlows(
  deps: Pick<Deps, "database">,
  after: FlowRef,
  flows_max: number,
): Promise<ForgottenFlows> {
  type Row = { looked_at: number; last: FlowRef | null; flows: number };
  const [row] = await executeOn(deps.database)<Row>({ text, params: [after.tenant, after.id, flows_max] });
  return { flows: row?.flows ?? 0, next: row?.looked_at === flows_max ? (row.last ?? undefined) : undefined };
}

const text = composed(
  "flows/forget-empty",
  ["after_tenant", "after_id", "flows_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT tenant, id, ctid AS lies_at FROM atlasqueue.flows WHERE (tenant, id) > ($1, $2::text::uuid) ORDER BY tenant, id LIMIT $3::int
  ), gone AS (
    DELETE FROM atlasqueue.flows WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.flows WHERE ctid = ANY(ARRAY(SELECT lies_at FROM page))
        AND NOT EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_id = flows.id) FOR UPDATE SKIP LOCKED))
    RETURNING id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, 
         (SELECT json_build_object('tenant', tenant, 'id', id) FROM page ORDER BY tenant DESC, id DESC LIMIT 1) AS last,
         (SELECT count(*)::int FROM gone) AS flows`,
);
