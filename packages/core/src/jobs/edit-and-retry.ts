import { mergePatch, type JsonObject, findFaults } from "@atlasqueue/contract";
import type { Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { lockJob } from "./lock-job.ts";
import { isRetryable, retryWith, tellRetried, type RetryOutcome } from "./retry.ts";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { removeOf } from "./remove.ts";

/** `refused`: the payload would be larger, or deeper, than one may be; nothing was changed. */
export type EditOutcome = RetryOutcome | { kind: "refused" };

/** The whole new payload, or a JSON merge patch of it. */
type Edit = { payload?: JsonObject | undefined; patch?: JsonObject | undefined };

/**
 * Like `retry`, with another payload, in one transaction: no one sees the one without the other. With it, nothing that was
 * done counts any more: its steps and signals are removed. Throws like `retry` while another transaction has something locked.
 *
 * @example
 * const patch = { to: "ada@example.org" };
 * const outcome = await editAndRetry(deps, "default", id, { patch }, limits.payload_bytes_max);
 */
export async function editAndRetry(
  deps: Deps,
  tenant: string,
  id: string,
  edit: Edit,
  payload_bytes_max: number,
): Promise<EditOutcome> {
  const edited = async (execute: Execute): Promise<EditOutcome> => {
    await execute(lockJob({ tenant, id }));
    const [row] = await execute<JobRow>({ text: read, params: [id, tenant] });
    if (!row) return { kind: "unknown" };
    if (!isRetryable(row.status)) return { kind: "not_retryable", job: row };
    const payload = edit.payload ?? (mergePatch(row.payload, edit.patch ?? {}) as JsonObject);
    if (!mayBeStored(payload, payload_bytes_max)) return { kind: "refused" };
    const retried = await retryWith(execute, tenant, id);
    await writePayloads(execute, [{ id, payload }]);
    return retried.kind === "retried" ? { ...retried, job: { ...retried.job, payload } } : retried;
  };
  const outcome = await inTransaction(deps.database, edited);
  tellRetried(deps, outcome);
  return outcome;
}

const read = "SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2";

/** Whether a payload is small and flat enough to be a job's. */
export function mayBeStored(payload: JsonObject, bytes_max: number): boolean {
  return Buffer.byteLength(JSON.stringify(payload)) <= bytes_max && findFaults(payload).length === 0;
}

/**
 * Give jobs, which this transaction has locked, other payloads. What was done before does not count then: their steps and
 * signals are removed.
 */
export async function writePayloads(
  execute: Execute,
  jobs: readonly { id: string; payload: JsonObject }[],
): Promise<void> {
  if (jobs.length === 0) return;
  const payloads = `[${jobs.map(({ payload }) => JSON.stringify(payload)).join(",")}]`;
  await execute({ text, params: [uuidArray(jobs.map(({ id }) => id)), payloads] });
}

const text = composed(
  "jobs/write-payloads",
  ["ids", "payloads"],
  `
  WITH edited AS (
    UPDATE atlasqueue.jobs SET payload = given.payload, has_steps = NULL
    FROM ROWS FROM (unnest($1::uuid[]), json_array_elements($2::text::json)) AS given(id, payload)
    WHERE jobs.id = given.id
    RETURNING jobs.id
  ), ${removeOf("job_state", "job_id", "edited")}
  SELECT count(*) FROM edited`,
);
