import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { hasMark } from "../limits/capacity.ts";
import type { Lease } from "./lease.ts";

/**
 * What a settlement needs to know of a job besides its token. The payload is not read. `ran_ms` is null when it is not
 * running any more, so that a repeated settlement is not counted again.
 */
export type Leased = Omit<Lease, "lease_token" | "payload"> & { ran_ms: number | null; is_queued: boolean };

/** A tenant's jobs for ids that a remote worker names, or that a claim did not take; other tenants' ids are left out. */
export async function findLeased(
  deps: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, Leased>> {
  const rows = await executeOn(deps.database)<Leased>({ text, params: [uuidArray(ids), tenant] });
  return new Map(rows.map((row) => [row.id, row]));
}

const text = composed(
  "lease/find-leased",
  ["ids", "tenant"],
  `
  SELECT id, tenant, queue, type, priority, attempts, max_attempts, timeout_seconds, backoff, last_error, group_key,
         coalesce(worker_id, '') AS worker_id, date_part('epoch', started_at - run_at) AS waited_seconds,
         CASE WHEN status = 'running' THEN date_part('epoch', statement_timestamp() - started_at) * 1000 END AS ran_ms, status = 'queued' AS is_queued,
         EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue AND ${hasMark}) AS limited
  FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $2`,
);
