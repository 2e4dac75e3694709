import { bounded } from "../database/bounded.ts";
import type { JobRow } from "../database/schema.ts";
import type { Deps } from "../deps.ts";

export type KeyedJob = { key_tenant: string; key: string; request_hash: string; job: JobRow };

/**
 * The jobs that stand behind idempotency keys. A key that has expired, or whose job was pruned, is removed on the way
 * and not returned: it is free again.
 */
export async function findByIdempotencyKeys(
  deps: Deps,
  keys: { tenant: string; key: string | null }[],
): Promise<KeyedJob[]> {
  const { sql } = deps.database;
  const wanted = JSON.stringify(keys.map(({ tenant, key }) => ({ tenant, key })));
  const rows = await bounded(
    deps.database,
    sql<(JobRow & { key_tenant: string; key: string; request_hash: string; spent: boolean })[]>`
    SELECT jobs.*, keys.tenant AS key_tenant, keys.key, encode(keys.request_hash, 'hex') AS request_hash,
           (keys.expires_at <= now() OR jobs.id IS NULL) AS spent
    FROM (SELECT DISTINCT * FROM json_to_recordset(${wanted}::text::json) AS wanted(tenant text, key text)) AS wanted
    JOIN idempotency_keys AS keys USING (tenant, key)
    LEFT JOIN jobs ON jobs.id = keys.job_id`,
  );
  const spent = rows.filter((row) => row.spent);
  if (spent.length > 0) await forget(deps, spent);
  return rows
    .filter((row) => !row.spent)
    .map(({ key_tenant, key, request_hash, spent: _spent, ...job }) => ({ key_tenant, key, request_hash, job }));
}

async function forget(deps: Deps, keys: { key_tenant: string; key: string }[]): Promise<void> {
  const { sql } = deps.database;
  const spent = JSON.stringify(keys.map(({ key_tenant, key }) => ({ tenant: key_tenant, key })));
  await bounded(
    deps.database,
    sql`
    DELETE FROM idempotency_keys AS keys
    USING json_to_recordset(${spent}::text::json) AS spent(tenant text, key text)
    WHERE keys.tenant = spent.tenant AND keys.key = spent.key
      AND (keys.expires_at <= now() OR NOT EXISTS (SELECT FROM jobs WHERE jobs.id = keys.job_id))`,
  );
}
