import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** Forget a bounded number of acts from longer ago than they are kept, oldest first. Returns how many. */
export async function forgetActs(deps: Pick<Deps, "database">, kept_hours: number, rows_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ gone: number }>({ text, params: [kept_hours * 3_600, rows_max] });
  return row?.gone ?? 0;
}

const text = composed(
  "audit/forget",
  ["kept_seconds", "rows_max"],
  `
  WITH gone AS (
    DELETE FROM atlasqueue.audit_log WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.audit_log WHERE at < now() - make_interval(secs => $1::float8) ORDER BY at LIMIT $2::int
      FOR UPDATE SKIP LOCKED))
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone`,
);
