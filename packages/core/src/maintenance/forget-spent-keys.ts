import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import type { KeyName } from "../submit/find-key-holders.ts";

/**
 * Remove idempotency keys that have expired or whose job is gone, so that they can be used again. Waits for no one: a
 * key another process is removing or pruning at the moment is skipped.
 */
export async function forgetSpentKeys(execute: Execute, keys: readonly KeyName[]): Promise<void> {
  if (keys.length === 0) return;
  const params = [textArray(keys.map(({ tenant }) => tenant)), textArray(keys.map(({ key }) => key))];
  await execute({ text, params });
}

const text = composed(
  "submit/forget-spent-keys",
  ["tenants", "keys"],
  `
  DELETE FROM atlasqueue.idempotency_keys WHERE (tenant, key) IN (
    SELECT keys.tenant, keys.key FROM unnest($1::text[], $2::text[]) AS spent(tenant, key)
    JOIN atlasqueue.idempotency_keys AS keys USING (tenant, key)
    WHERE keys.expires_at <= now() OR NOT EXISTS (SELECT FROM atlasqueue.jobs WHERE jobs.id = keys.job_id)
    FOR UPDATE OF keys SKIP LOCKED)`,
);
