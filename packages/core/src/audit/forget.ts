import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { firstIdFromNow } from "../maintenance/retention.ts";

/** Forget a bounded number of acts from longer ago than they are kept, each tenant's oldest first. Returns how many. */
export async function forgetActs(deps: Pick<Deps, "database">, kept_hours: number, rows_max: number): Promise<number> {
  const before = await firstIdFromNow(deps, -kept_hours * 3_600);
  const [row] = await executeOn(deps.database)<{ gone: number }>({ text, params: [before, rows_max] });
  return row?.gone ?? 0;
}

// Steps from tenant to tenant in the primary key, whose ids are in the order of time.
const text = composed(
  "audit/forget",
  ["before", "rows_max"],
  `
  WITH RECURSIVE owners(tenant) AS (
    (SELECT tenant FROM atlasqueue.audit_log ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM atlasqueue.audit_log WHERE audit_log.tenant > owners.tenant ORDER BY tenant LIMIT 1)
    FROM owners WHERE tenant IS NOT NULL
  ), old AS MATERIALIZED (
    SELECT lies_at FROM owners CROSS JOIN LATERAL (
      SELECT ctid AS lies_at FROM atlasqueue.audit_log WHERE audit_log.tenant = owners.tenant AND id < $1::text::uuid
      ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED) AS act
    LIMIT $2::int
  ), gone AS (
    DELETE FROM atlasqueue.audit_log WHERE ctid = ANY(ARRAY(SELECT lies_at FROM old)) RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone`,
);
