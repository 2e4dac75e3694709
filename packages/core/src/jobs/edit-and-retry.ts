import { findFaults, mergePatch, type JsonObject } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { impatient } from "../database/skip-locked.ts";
import type { Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import { inTransaction, notHeldHalfSent, notHeldIdle } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { forgetSteps } from "../steps/forget.ts";
import { isRetryable, retryWith, tellRetried, type RetryOutcome } from "./retry.ts";

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
    const [row] = await execute<JobRow>({ text: hold, params: [id, tenant] });
    if (!row) return { kind: "unknown" };
    if (!isRetryable(row.status)) return { kind: "not_retryable", job: row };
    const payload = edit.payload ?? (mergePatch(row.payload, edit.patch ?? {}) as JsonObject);
    const text = JSON.stringify(payload);
    if (Buffer.byteLength(text) > payload_bytes_max || findFaults(payload).length > 0) return { kind: "refused" };
    const retried = await retryWith(execute, tenant, id);
    await execute({ text: write, params: [id, text] });
    return retried.kind === "retried" ? { ...retried, job: { ...retried.job, payload } } : retried;
  };
  const outcome = await inTransaction(deps.database, edited);
  tellRetried(deps, outcome);
  return outcome;
}

const hold = composed(
  "jobs/hold-for-edit",
  ["id", "tenant"],
  `SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2 AND ${impatient} AND ${notHeldIdle} AND ${notHeldHalfSent(10_000)} FOR UPDATE`,
);
const write = composed(
  "jobs/write-edit",
  ["id", "payload"],
  `
  WITH edited AS (
    UPDATE atlasqueue.jobs SET payload = $2::text::json, has_steps = NULL WHERE id = $1::uuid RETURNING id
  ), ${forgetSteps("edited")}
  SELECT id FROM edited`,
);
