import type { Sql } from "postgres";

/** What is left when all is quiet. */
export type Final = {
  /** All jobs that are not succeeded. `why`: what an unfinished one waits for, if that is no fault. */
  open: { id: string; tenant: string; status: string; why: string | null }[];
  keys: { tenant: string; key: string; job: string }[];
  /** The ids in the Redis list of dead letters, as they stand there; undefined when it was not looked at. */
  dead_list: string[] | undefined;
  /** The nonces of what callers wrote beside their jobs. */
  rows: string[];
};

const rows_max = 5_000_000;

/**
 * The state at the end, in one snapshot. An unfinished job is explained by a signal it waits for, a paused queue, a time that has
 * not come, or a parent, or an earlier job of its group, that is explained itself.
 *
 * @example
 * const final = await readFinal(sql, await redis.lrange("atlasqueue:dlq", 0, -1));
 */
export async function readFinal(sql: Sql, dead_list?: string[]): Promise<Final> {
  return sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const open = await tx<Final["open"]>`
      SELECT id, tenant, status, CASE
        WHEN status IN ('dead', 'cancelled') THEN NULL
        WHEN waits_for IS NOT NULL THEN 'waits for a signal'
        WHEN EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue AND paused_at IS NOT NULL)
          THEN 'its queue is paused'
        WHEN status IN ('scheduled', 'failed') AND due_at > now() + interval '2 seconds' THEN 'its time has not come'
        WHEN status = 'blocked' AND EXISTS (
          SELECT FROM atlasqueue.jobs AS head WHERE head.tenant = jobs.tenant AND head.queue = jobs.queue AND head.active_group_key = jobs.group_key
            AND (head.waits_for IS NOT NULL OR head.due_at > now() + interval '2 seconds')) THEN 'its group waits'
        WHEN status = 'blocked' AND EXISTS (
          SELECT FROM atlasqueue.flow_edges JOIN atlasqueue.jobs AS parent ON parent.id = flow_edges.parent
          WHERE flow_edges.child = jobs.id AND (parent.waits_for IS NOT NULL OR parent.due_at > now() + interval '2 seconds'))
          THEN 'its parent waits' END AS why
      FROM atlasqueue.jobs WHERE status <> 'succeeded' LIMIT ${rows_max}`;
    const keys = await tx<
      Final["keys"]
    >`SELECT tenant, key, job_id AS job FROM atlasqueue.idempotency_keys LIMIT ${rows_max}`;
    const [callers] = await tx<{ known: boolean }[]>`SELECT to_regclass('caller_rows') IS NOT NULL AS known`;
    const rows = callers?.known ? await tx<{ nonce: string }[]>`SELECT nonce FROM caller_rows LIMIT ${rows_max}` : [];
    return { open: [...open], keys: [...keys], dead_list, rows: rows.map(({ nonce }) => nonce) };
  }) as Promise<Final>;
}
