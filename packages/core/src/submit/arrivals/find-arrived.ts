import { composed } from "../../database/composed.ts";
import { textArray } from "../../database/literals.ts";
import { replicated } from "../../database/replicated.ts";
import type { Execute } from "../../database/statement.ts";
import type { KeyedJob, KeyName } from "../find-key-holders.ts";
import { knownColumns, type KnownJob } from "../known-job.ts";

/** Jobs that arrived with idempotency keys and have not been admitted yet: the first with each key. */
export async function findArrivedByKey(execute: Execute, keys: readonly KeyName[]): Promise<KeyedJob[]> {
  if (keys.length === 0) return [];
  const params = [textArray(keys.map(({ tenant }) => tenant)), textArray(keys.map(({ key }) => key))];
  type Row = KnownJob & { key: string; request_hash: string; replicated: boolean };
  const rows = await execute<Row>({ text, params });
  return rows.map(({ key, request_hash, replicated: _replicated, ...job }) => ({
    tenant: job.tenant,
    key,
    request_hash,
    job,
  }));
}

const text = composed(
  "submit/find-arrived",
  ["tenants", "keys"],
  `
  SELECT first.key, first.request_hash, ${replicated}, ${knownColumns}
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, key), LATERAL (
    SELECT idempotency_key AS key, encode(request_hash, 'hex') AS request_hash, job_id FROM (
      SELECT * FROM atlasqueue.arrivals WHERE arrivals.tenant = wanted.tenant AND idempotency_key = wanted.key OFFSET 0) AS named
    ORDER BY job_id LIMIT 1) AS first
  JOIN atlasqueue.jobs ON jobs.id = first.job_id`,
);
