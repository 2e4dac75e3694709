import type { Sql } from "postgres";

/** One move of a job, as the trigger noted it. `was` is null for a new job, `status` for one that was removed. */
export type Moved = {
  seq: number;
  /** The database's clock, in ms. */
  at_ms: number;
  /** When the statement came that made the move. */
  asked_ms: number;
  transaction: string;
  job: string;
  tenant: string;
  queue: string;
  group: string | null;
  /** Of its submission: for a new job, and when a newer request replaces what it asked for. */
  nonce: string | null;
  was: string | null;
  status: string | null;
  attempts: number;
  max_attempts: number;
  old_token: string | null;
  token: string | null;
  worker: string | null;
  /** When it stops running: what was left of its lease, less than 0 when that had ended. */
  lease_left_ms: number | null;
  error: string | null;
  dead_reason: string | null;
  /** The attempt that its result says it is of. */
  done_by_attempt: number | null;
};

const rows_at_once = 5_000;

/**
 * All moves, oldest first.
 *
 * @example
 * for await (const move of readAudit(sql)) count(move.status);
 */
export async function* readAudit(sql: Sql): AsyncGenerator<Moved> {
  const pages = sql<Moved[]>`
    SELECT seq::float8, extract(epoch FROM at)::float8 * 1000 AS at_ms, extract(epoch FROM asked_at)::float8 * 1000 AS asked_ms, transaction, job, tenant, queue, group_key AS "group", nonce,
           was, status, attempts, max_attempts, old_token, token, worker, lease_left_ms, error, dead_reason, done_by_attempt
    FROM faults_audit ORDER BY seq`.cursor(rows_at_once);
  for await (const page of pages) yield* page;
}
