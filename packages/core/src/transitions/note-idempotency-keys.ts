import { textArray, uuidArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";

export type NotedKey = { tenant: string; key: string; hash: string; job_id: string };

/**
 * Remember keys whose request was answered with a job that was there already, so that the same request gets the same
 * answer again. Returns those that somebody else took meanwhile: nothing was noted of them.
 */
export async function noteIdempotencyKeys(
  execute: Execute,
  keys: readonly NotedKey[],
  ttl_seconds: number,
): Promise<NotedKey[]> {
  if (keys.length === 0) return [];
  const noted = await execute<{ tenant: string; key: string }>({
    text,
    params: [
      textArray(keys.map((one) => one.tenant)),
      textArray(keys.map((one) => one.key)),
      textArray(keys.map((one) => one.hash)),
      uuidArray(keys.map((one) => one.job_id)),
      ttl_seconds,
    ],
  });
  const nameOf = ({ tenant, key }: { tenant: string; key: string }) => `${tenant} ${key}`;
  const known = new Set(noted.map(nameOf));
  return keys.filter((one) => !known.has(nameOf(one)));
}

const text = `
  INSERT INTO idempotency_keys (tenant, key, request_hash, job_id, expires_at)
  SELECT tenant, key, decode(hash, 'hex'), id, now() + make_interval(secs => $5::float8)
  FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) AS noted(tenant, key, hash, id)
  ORDER BY tenant COLLATE "C", key COLLATE "C"
  ON CONFLICT DO NOTHING RETURNING tenant, key`;
