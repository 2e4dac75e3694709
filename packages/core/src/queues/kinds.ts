import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isLimited } from "../limits/room.ts";
import type { Claimer } from "../lease/lease.ts";

/** Queues by how their jobs are claimed; those that are paused are none of them. */
export type QueueKinds = { plain: string[]; in_turns: string[]; limited: string[] };

/**
 * How the jobs of queues must be claimed without a signal: in the turns of their groups, which may be limited as well,
 * within limits, or just in their order.
 *
 * @example
 * const { plain, in_turns, limited } = await queueKinds(deps, { tenant: "default", queues: ["mail", "reports"] });
 */
export async function queueKinds(
  deps: Pick<Deps, "database">,
  { tenant, queues }: Pick<Claimer, "tenant" | "queues">,
): Promise<QueueKinds> {
  type Row = { queue: string; kind: "paused" | "in_turns" | "limited" };
  const rows = await executeOn(deps.database)<Row>({ text: kinds, params: [tenant, textArray(queues)] });
  const kindOf = new Map(rows.map(({ queue, kind }) => [queue, kind]));
  const of = (kind: Row["kind"] | undefined) => queues.filter((queue) => kindOf.get(queue) === kind);
  return { plain: of(undefined), in_turns: of("in_turns"), limited: of("limited") };
}

const kinds = composed(
  "queues/kinds",
  ["tenant", "queues"],
  `
  SELECT queue, CASE WHEN paused_at IS NOT NULL THEN 'paused' WHEN fair_by IS NOT NULL THEN 'in_turns' ELSE 'limited' END AS kind
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND (paused_at IS NOT NULL OR fair_by IS NOT NULL OR ${isLimited})`,
);
