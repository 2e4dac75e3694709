import type { Operation } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import type { OperationRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

export type Steering = "pause" | "resume" | "cancel";
export type SteerOutcome =
  | { kind: "steered"; row: OperationRow }
  | { kind: "over"; row: OperationRow }
  | { kind: "unknown" };

const becomes = { pause: "paused", resume: "running", cancel: "cancelled" } as const satisfies Record<
  Steering,
  Operation["status"]
>;
const changes = { pause: "paused", resume: "resumed", cancel: "cancelled" } as const;

/**
 * Pause an operation, let it go on, or end it: after the page that may be under way, which it waits for, nothing more is
 * changed. What was changed stays so. Repeated, it changes nothing. With a `kind`, others are unknown.
 *
 * @example
 * const outcome = await steerOperation(deps, "default", id, "pause");
 */
export async function steerOperation(
  deps: Deps,
  tenant: string,
  id: string,
  what: Steering,
  kind: Operation["kind"] | "" = "",
): Promise<SteerOutcome> {
  const [row] = await executeOn(deps.database)<OperationRow & { was: Operation["status"] }>({
    text,
    params: [id, tenant, becomes[what], kind],
  });
  if (!row) return { kind: "unknown" };
  const { was, ...operation } = row;
  if (operation.status !== becomes[what]) return { kind: "over", row: operation };
  if (was !== operation.status)
    deps.observe({ event: "operation_changed", change: changes[what], tenant, kind: row.kind, operation_id: id });
  return { kind: "steered", row: operation };
}

// The row is locked first, so that the old status is the one the UPDATE found; one that is over is returned as it is.
const text = composed(
  "operations/steer",
  ["id", "tenant", "status", "kind"],
  `
  WITH found AS MATERIALIZED (
    SELECT * FROM atlasqueue.operations WHERE id = $1::uuid AND tenant = $2 AND ($4 = '' OR kind = $4) AND ${lockTimeout} FOR UPDATE
  ), steered AS (
    UPDATE atlasqueue.operations AS operation
    SET status = $3, updated_at = now(), next_at = now(), finished_at = CASE WHEN $3 = 'cancelled' THEN now() END
    FROM found WHERE operation.id = found.id AND found.status IN ('running', 'paused') AND found.status <> $3
    RETURNING operation.*, found.status AS was
  )
  SELECT * FROM steered
  UNION ALL
  SELECT *, status AS was FROM found WHERE NOT EXISTS (SELECT FROM steered)`,
);
