import { composed } from "../composed.ts";
import type { Database } from "../connect.ts";
import { executeOn } from "../statement.ts";

/** Those that go from nothing to a million rows within a minute. */
const tables = ["jobs", "claims", "idempotency_keys", "job_groups", "outbox", "queue_starts", "rollups"] as const;
type Table = (typeof tables)[number];

/**
 * Tell the planner how large our tables, or some of them, have become: ANALYZE makes every connection replan. A prepared
 * statement keeps its plan, which for an empty table is to read all of it, and a queue grows to a million rows before
 * autovacuum looks. A function does it with the owner's rights, one table a call, so that no lock outlives its table.
 */
export async function refreshStatistics(database: Database, of: readonly Table[] = tables): Promise<void> {
  const execute = executeOn(database);
  for (const table of of) await execute({ text: refresh, params: [table] });
}

/**
 * Those of our tables that are four times as large as the planner believes, and not tiny. No others are looked at again:
 * reading 7,500 pages of a long history of jobs each time that claims come and go would slow all others.
 */
export async function staleTables(database: Database): Promise<Table[]> {
  const rows = await executeOn(database)<{ name: Table }>({ text: stale, params: [] });
  return rows.map(({ name }) => name);
}

const refresh = "SELECT atlasqueue.refresh_statistics($1::text::name)";

const stale = composed(
  "database/stale-tables",
  [],
  `
  SELECT name FROM (VALUES ${tables.map((table) => `('${table}', 'atlasqueue.${table}'::regclass)`).join(", ")}) AS ours(name, id)
  WHERE pg_relation_size(id) > 4 * current_setting('block_size')::bigint
    * greatest((SELECT relpages FROM pg_class WHERE oid = id), 16)`,
);
