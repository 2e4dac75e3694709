import { textArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema.ts";
import type { Execute } from "../database/statement.ts";

/** What an idempotency key stands for. `job` is as the driver of `execute` gives it. */
export type KeyedJob = { tenant: string; key: string; request_hash: string; job: JobRow };
type Key = { tenant: string; key: string };

const find = `
  SELECT jobs.*, keys.tenant AS key_tenant, keys.key, encode(keys.request_hash, 'hex') AS request_hash,
         (keys.expires_at <= now() OR jobs.id IS NULL) AS spent
  FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS wanted(tenant, key)) AS wanted
  JOIN idempotency_keys AS keys USING (tenant, key)
  LEFT JOIN jobs ON jobs.id = keys.job_id`;

const forget = `
  DELETE FROM idempotency_keys AS keys USING unnest($1::text[], $2::text[]) AS spent(tenant, key)
  WHERE keys.tenant = spent.tenant AND keys.key = spent.key
    AND (keys.expires_at <= now() OR NOT EXISTS (SELECT FROM jobs WHERE jobs.id = keys.job_id))`;

/**
 * The jobs that stand behind idempotency keys. A key that has expired, or whose job was pruned, is removed on the way
 * and not returned: it is free again.
 */
export async function findByIdempotencyKeys(execute: Execute, keys: readonly Key[]): Promise<KeyedJob[]> {
  type Row = JobRow & { key_tenant: string; key: string; request_hash: string; spent: boolean };
  const rows = await execute<Row>({ text: find, params: columns(keys) });
  const spent = rows.filter((row) => row.spent).map((row) => ({ tenant: row.key_tenant, key: row.key }));
  if (spent.length > 0) await execute({ text: forget, params: columns(spent) });
  return rows
    .filter((row) => !row.spent)
    .map(({ key_tenant, key, request_hash, spent: _spent, ...job }) => ({
      tenant: key_tenant,
      key,
      request_hash,
      job,
    }));
}

const columns = (keys: readonly Key[]) => [
  textArray(keys.map(({ tenant }) => tenant)),
  textArray(keys.map(({ key }) => key)),
];
