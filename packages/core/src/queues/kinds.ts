import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { hasMark } from "../limits/room.ts";
import type { Claimer } from "../lease/lease.ts";

/** Queues by how their jobs are claimed; those that are paused are none of them. */
export type QueueKinds = { plain: string[]; marked: string[] };

/**
 * How the jobs of queues must be claimed without a signal: under the lock of the queue's row, or just in their order.
 *
 * @example
 * const { plain, marked } = await queueKinds(deps, { tenant: "default", queues: ["mail", "reports"] });
 */
export async function queueKinds(
  deps: Pick<Deps, "database">,
  { tenant, queues }: Pick<Claimer, "tenant" | "queues">,
): Promise<QueueKinds> {
  type Row = { queue: string; kind: "paused" | "marked" };
  const rows = await executeOn(deps.database)<Row>({ text: kinds, params: [tenant, textArray(queues)] });
  const kindOf = new Map(rows.map(({ queue, kind }) => [queue, kind]));
  const of = (kind: Row["kind"] | undefined) => queues.filter((queue) => kindOf.get(queue) === kind);
  return { plain: of(undefined), marked: of("marked") };
}

const kinds = composed(
  "queues/kinds",
  ["tenant", "queues"],
  `
  SELECT queue, CASE WHEN paused_at IS NOT NULL THEN 'paused' ELSE 'marked' END AS kind
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND (paused_at IS NOT NULL OR ${hasMark})`,
);
