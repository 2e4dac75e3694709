import { isFinal, jobStatuses, type Flow, type FlowState, type JobStatus } from "@atlasqueue/contract";

export type FlowRow = {
  id: string;
  created_at: Date;
  finished_at: Date | null;
  jobs: number;
  /** Statuses that no job has are left out. */
  counts: Partial<Record<JobStatus, number>> | null;
};

/**
 * The parts of a sub-select that counts the jobs of a flow, given as a row with its `id` and `tenant`: `jobs`, `counts` and `finished_at`.
 * LATERAL and by the flow's index, so that it reads that flow's jobs alone.
 */
export const countedOf = (flow: string) => `LATERAL (
    SELECT coalesce(sum(count), 0)::int AS jobs, json_object_agg(status, count) AS counts, max(finished_at) AS finished_at
    FROM (
      SELECT status, count(*)::int AS count, max(finished_at) AS finished_at
      FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = ${flow}.tenant
      WHERE flow_jobs.flow_id = ${flow}.id GROUP BY status
    ) AS each
  )`;

/** What the statuses of its jobs say about a flow. */
function flowState(counts: Readonly<Partial<Record<JobStatus, number>>>): FlowState {
  const has = (status: JobStatus) => (counts[status] ?? 0) > 0;
  const failed = has("dead") || has("cancelled");
  const open = jobStatuses.filter((status) => !isFinal(status) && has(status));
  // Waiting for parents alone, none of which is on its way any more.
  if (open.length > 0) return failed && open.every((status) => status === "blocked") ? "held" : "running";
  return has("dead") ? "failed" : has("cancelled") ? "cancelled" : "succeeded";
}

/** A row as the wire shows it. */
export function showFlow({ id, created_at, finished_at, jobs, counts: counted }: FlowRow): Flow {
  const counts = Object.fromEntries(jobStatuses.map((status) => [status, counted?.[status] ?? 0])) as Flow["counts"];
  const state = flowState(counts);
  const over = state !== "running" && state !== "held";
  return {
    id,
    state,
    created_at: created_at.toISOString(),
    finished_at: over ? (finished_at?.toISOString() ?? null) : null,
    jobs,
    counts,
  };
}
