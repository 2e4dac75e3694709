import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

/** `next` is where the next step goes on; undefined when all flows have been looked at. */
export type ForgottenFlows = { flows: number; next: string | undefined };

/**
 * Flows none of whose jobs is left → gone. A step looks at `flows_max` of them, in the order of their ids. A flow is
 * stored together with its first job, so none is seen before it has one.
 *
 * @example
 * const { next } = await forgetEmptyFlows(deps, firstId, 500);
 */
export async function forgetEmptyFlows(
  deps: Pick<Deps, "database">,
  after: string,
  flows_max: number,
): Promise<ForgottenFlows> {
  type Row = { looked_at: number; last: string | null; flows: number };
  const [row] = await executeOn(deps.database)<Row>({ text, params: [after, flows_max] });
  return { flows: row?.flows ?? 0, next: row?.looked_at === flows_max ? (row.last ?? undefined) : undefined };
}

const text = composed(
  "flows/forget-empty",
  ["after", "flows_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT id FROM atlasqueue.flows WHERE id > $1::text::uuid ORDER BY id LIMIT $2::int
  ), gone AS (
    DELETE FROM atlasqueue.flows WHERE id = ANY(ARRAY(
      SELECT id FROM atlasqueue.flows WHERE id = ANY(ARRAY(SELECT id FROM page))
        AND NOT EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_id = flows.id) FOR UPDATE SKIP LOCKED))
    RETURNING id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT count(*)::int FROM gone) AS flows`,
);
