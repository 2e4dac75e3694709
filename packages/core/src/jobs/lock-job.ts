import { composed } from "../database/composed.ts";
import type { JobRow } from "../database/schema/index.ts";
import { lockTimeout } from "../database/clauses.ts";
import type { Statement } from "../database/statement.ts";
import { stalledTxTimeout, idleTxTimeout, sentTogether } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";

type JobRef = { tenant: string; id: string };
export type LockedJob = Pick<JobRow, "tenant" | "status" | "lease_token" | "flow_id" | "has_children">;

/** Locks a job for the rest of its transaction. It fails after 200 ms (`isLocked`) while another one has the job locked. */
export const lockJob = ({ tenant, id }: JobRef): Statement => ({ text: lock, params: [id, tenant] });

/**
 * Sends a statement in a transaction that has locked the job first, so that it sees every step and signal of the job that
 * was committed before. Otherwise a signal could be committed after the statement looked for it and before it parked
 * the job, and would wake nobody. Throws like `lockJob`.
 *
 * @example
 * const row = await withJobLocked<Row>(deps, job, { text, params });
 */
export async function withJobLocked<Row>(
  { database }: Pick<Deps, "database">,
  job: JobRef,
  statement: Statement,
): Promise<Row | undefined> {
  const [, rows] = await sentTogether(database, [lockJob(job), statement]);
  return rows?.[0] as Row | undefined;
}

const lock = composed(
  "jobs/lock",
  ["id", "tenant"],
  `
  SELECT tenant, status, lease_token, flow_id, has_children FROM atlasqueue.jobs
  WHERE id = $1::uuid AND tenant = $2 AND ${lockTimeout} AND ${idleTxTimeout} AND ${stalledTxTimeout(10_000)} FOR UPDATE`,
);
