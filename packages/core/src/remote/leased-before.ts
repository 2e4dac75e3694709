import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { LeasedJob } from "../lease/lease.ts";

/** What a request leased. The jobs are held for `remaining_ms` from `sent_at`, by `performance.now()`. */
export type Handed = { jobs: LeasedJob[]; sent_at: number; remaining_ms: number; repeated: boolean };

/** A worker's token was used by another worker, or for another queue. */
export class LeaseTokenUsedError extends Error {
  override readonly name = "LeaseTokenUsedError";
}

/** `queue`: of the request; a settlement has none. */
type Asked = { tenant: string; lease_token: string; worker_id: string; queue?: string };

/**
 * What an earlier request leased under a worker's token and is still leased; undefined if the token leased nothing yet. A
 * token that was released, or whose jobs are settled, has none. Rejects with `LeaseTokenUsedError` if it is another
 * worker's, or for jobs of another queue.
 *
 * @example
 * const before = await findLeasedBefore(deps, { tenant, lease_token, worker_id, queue });
 */
export async function findLeasedBefore(deps: Pick<Deps, "database">, asked: Asked): Promise<Handed | undefined> {
  const { tenant, lease_token, worker_id, queue = "" } = asked;
  type Row = LeasedJob & { id: string | null; claimed_by: string; other_queue: string | null; left_ms: number };
  const sent_at = performance.now();
  const rows = await executeOn(deps.database)<Row>({ text, params: [tenant, lease_token, queue] });
  const [first] = rows;
  if (!first) return undefined;
  // A token that was released before it leased anything has no worker.
  if (first.claimed_by !== "" && first.claimed_by !== worker_id) throw new LeaseTokenUsedError("by another worker_id");
  if (first.other_queue !== null) throw new LeaseTokenUsedError(`for queue ${first.other_queue}`);
  const held = rows.filter(({ id }) => id !== null);
  const least_ms = held.length > 0 ? Math.min(...held.map(({ left_ms }) => left_ms)) : 0;
  const jobs = held.map(({ claimed_by: _by, other_queue: _queue, left_ms: _left, ...job }) => job as LeasedJob);
  return { jobs, sent_at, remaining_ms: Math.max(0, Math.floor(least_ms)), repeated: true };
}

const text = composed(
  "lease/leased-before",
  ["tenant", "lease_token", "queue"],
  `
  SELECT used.worker_id AS claimed_by, used.other_queue, held.*
  FROM (
    SELECT worker_id, job_ids, (
      SELECT queue FROM atlasqueue.jobs WHERE id = ANY(job_ids) AND tenant = $1 AND $3 <> '' AND queue <> $3 LIMIT 1) AS other_queue
    FROM atlasqueue.claims WHERE token = $2::uuid AND tenant = $1
  ) AS used LEFT JOIN LATERAL (
    SELECT *, date_part('epoch', locked_until - statement_timestamp()) * 1000 AS left_ms FROM atlasqueue.jobs
    WHERE id = ANY(used.job_ids) AND tenant = $1 AND lease_token = $2::uuid AND status = 'running'
  ) AS held ON true
  ORDER BY held.id`,
);
