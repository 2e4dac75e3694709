import { executeOn } from "../database/statement.ts";
import { textArray } from "../database/literals.ts";
import type { Deps } from "../deps.ts";

export type WorkOf = { tenant: string; queues: readonly string[]; worker_id: string; due_within_seconds: number };

/**
 * Whether a worker has anything left to do in its queues: ready jobs, jobs ready soon, overdue groups, rows
 * of the outbox, and what it runs itself. One snapshot, so a job on its way from the queue to the worker is in one of the two.
 * What others run does not count, nor what is paused.
 *
 * @example
 * if (!(await workLeft(deps, { tenant: "default", queues: ["default"], worker_id, due_within_seconds: 60 }))) exit();
 */
export async function workLeft(deps: Pick<Deps, "database">, of: WorkOf): Promise<boolean> {
  const params = [of.tenant, textArray(of.queues), of.worker_id, of.due_within_seconds];
  const [row] = await executeOn(deps.database)<{ any: boolean }>({ text, params });
  return row?.any ?? true;
}

// The orders make each a look into an index: without them, PostgreSQL may go through the table. Ready ones from the end with
// the newest, as the other holds the dead entries of claimed jobs. What is due is a range of the index of all three
// columns: with an equality, it could walk through everybody's in order of time.
const text = `
  WITH served AS MATERIALIZED (
    SELECT queue FROM unnest($2::text[]) AS wanted(queue)
    WHERE NOT EXISTS (SELECT FROM atlasqueue.queues WHERE tenant = $1 AND queues.queue = wanted.queue AND paused_at IS NOT NULL)
  )
  SELECT EXISTS (SELECT FROM served, LATERAL (
           SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND jobs.queue = served.queue AND ready_at IS NOT NULL
           ORDER BY priority, ready_at DESC, id DESC LIMIT 1) AS ready)
      OR EXISTS (SELECT FROM served, LATERAL (
           SELECT FROM atlasqueue.jobs
           WHERE due_at IS NOT NULL AND (tenant, jobs.queue, due_at) >= ($1, served.queue, '-infinity')
             AND (tenant, jobs.queue, due_at) <= ($1, served.queue, now() + make_interval(secs => $4::float8))
           ORDER BY tenant, jobs.queue, due_at LIMIT 1) AS due)
      OR EXISTS (SELECT FROM atlasqueue.job_groups WHERE tenant = $1 AND overdue_at IS NOT NULL AND queue IN (SELECT queue FROM served))
      OR EXISTS (SELECT FROM atlasqueue.outbox WHERE tenant = $1)
      OR EXISTS (SELECT FROM atlasqueue.claims CROSS JOIN LATERAL unnest(job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
                 WHERE claims.worker_id = $3 AND jobs.tenant = $1 AND jobs.status = 'running'
                   AND jobs.lease_token = claims.token) AS "any"`;
