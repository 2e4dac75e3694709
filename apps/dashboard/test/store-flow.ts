import type { JobStatus, OnParentFailure } from "@atlasqueue/contract";
import { newId } from "@atlasqueue/core/internal";
import type { Database } from "@atlasqueue/core";

export type FlowMember = {
  ref: string | null;
  type?: string;
  status: JobStatus;
  /** Places of others in the list, or ids of jobs from before. */
  depends_on?: readonly (number | string)[];
  on_parent_failure?: OnParentFailure;
  last_error?: string;
};

export type StoredFlow = { id: string; jobs: readonly string[] };

/** A flow whose jobs are as far as a test wants them: in a queue that no worker takes, so that they stay so. */
export async function storeFlow({ sql }: Database, members: readonly FlowMember[]): Promise<StoredFlow> {
  const id = newId();
  const jobs = members.map(() => newId());
  const idOf = (parent: number | string) => (typeof parent === "number" ? (jobs[parent] ?? "") : parent);
  const rows = members.map(({ depends_on = [], ...member }, place) => ({
    type: "step",
    on_parent_failure: "cancel",
    last_error: null,
    ...member,
    id: jobs[place],
    place,
    parents: depends_on.map((parent) => ({ ref: String(parent), id: idOf(parent) })),
  }));
  await sql`INSERT INTO flows (id, tenant, created_at) VALUES (${id}, 'default', now() - interval '5 minutes')`;
  await sql`
    INSERT INTO jobs (id, queue, type, status, attempts, run_at, created_at, updated_at, ready_at, due_at, dead_at,
                      blocked_seq, started_at, finished_at, locked_until, last_error, payload, flow_id)
    SELECT id, 'elsewhere', type, status, (status NOT IN ('blocked', 'queued', 'cancelled'))::int, now(),
           now() - interval '5 minutes', now(),
           CASE WHEN status = 'queued' THEN now() END, CASE WHEN status IN ('scheduled', 'failed') THEN now() + interval '1 hour' END,
           CASE WHEN status = 'dead' THEN now() END, CASE WHEN status = 'blocked' THEN 0 END,
           CASE WHEN status IN ('running', 'succeeded', 'dead') THEN now() - interval '3 minutes' END,
           CASE WHEN status IN ('succeeded', 'dead', 'cancelled') THEN now() - interval '1 minute' END,
           CASE WHEN status = 'running' THEN now() + interval '1 hour' END, last_error, '{}', ${id}
    FROM jsonb_to_recordset(${sql.json(rows)}) AS row (id uuid, type text, status text, last_error text)`;
  await sql`
    INSERT INTO flow_jobs (job_id, flow_id, place, ref, on_parent_failure, parents)
    SELECT id, ${id}, place, ref, on_parent_failure, parents
    FROM jsonb_to_recordset(${sql.json(rows)}) AS row (id uuid, place int, ref text, on_parent_failure text, parents json)`;
  return { id, jobs };
}
