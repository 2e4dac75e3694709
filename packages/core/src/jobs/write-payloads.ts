import { findFaults, type JsonObject } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { removeOf } from "./remove.ts";

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
