import { firstId, lastId, timeOf } from "../ids.ts";
import { type Flow, type FlowState, isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

type FlowRow = {
  id: string;
  finished_at: Date | null;
  jobs: number;
  /** Statuses that no job has are left out. */
  counts: Partial<Record<JobStatus, number>> | null;
};

/**
 * The parts of a sub-select that counts the jobs of a flow, given as a row with its `id` and `tenant`: `jobs`, `counts` and `finished_at`.
 * LATERAL and by the flow's index, so that it reads that flow's jobs alone.
 */
const countedOf = (flow: string) => `LATERAL (
    SELECT coalesce(sum(count), 0)::int AS jobs, json_object_agg(status, count) AS counts, max(finished_at) AS finished_at
    FROM (
      SELECT status, count(*)::int AS count, max(finished_at) AS finished_at
      FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = ${flow}.tenant
      WHERE flow_jobs.tenant = ${flow}.tenant AND flow_jobs.flow_id = ${flow}.id GROUP BY status
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
function showFlow({ id, finished_at, jobs, counts: counted }: FlowRow): Flow {
  const counts = Object.fromEntries(jobStatuses.map((status) => [status, counted?.[status] ?? 0])) as Flow["counts"];
  const state = flowState(counts);
  const over = state !== "running" && state !== "held";
  return {
    id,
    state,
    created_at: timeOf(id).toISOString(),
    finished_at: over ? (finished_at?.toISOString() ?? null) : null,
    jobs,
    counts,
  };
}

/** `next` is where the next page begins: below this id. Undefined at the end. */
export type FlowList = { flows: Flow[]; next: string | undefined };

/** The flows one page looks at for those in a state, which only their jobs know. */
const looked_at_max = 200;
/**
 * A tenant's flows, newest first. With a state a page may be short, or empty, and still have a next one.
 *
 * @example
 * const { flows, next } = await listFlows(deps, "default", { state: "held" }, 20);
 */
export async function listFlows(
  deps: Pick<Deps, "database">,
  tenant: string,
  { state }: { state?: FlowState | undefined },
  flows_max: number,
  below: string = lastId,
): Promise<FlowList> {
  const flows: Flow[] = [];
  let last = below;
  for (let looked_at = 0; looked_at < looked_at_max; looked_at += flows_max) {
    const rows = await executeOn(deps.database)<FlowRow>({ text, params: [tenant, last, flows_max, firstId] });
    for (const row of rows) {
      last = row.id;
      const one = showFlow(row);
      if (state === undefined || one.state === state) flows.push(one);
      if (flows.length === flows_max) return { flows, next: last };
    }
    if (rows.length < flows_max) return { flows, next: undefined };
  }
  return { flows, next: last };
}

/**
 * A flow and its counts; undefined when the tenant has none with this id.
 *
 * @example
 * const { state } = (await findFlow(deps, "default", id)) ?? {};
 */
export async function findFlow(deps: Pick<Deps, "database">, tenant: string, id: string): Promise<Flow | undefined> {
  const [row] = await executeOn(deps.database)<FlowRow>({ text, params: [tenant, id, 1, id] });
  return row && showFlow(row);
}

// Of one flow, `from` and `below` are its id; in a list `below` is no part of the page. It goes from one flow to the next below
// it, past the rows of its jobs.
const text = composed(
  "flows/list",
  ["tenant", "below", "flows_max", "from"],
  `
  WITH RECURSIVE one(id) AS (
    (SELECT flow_id FROM atlasqueue.flow_jobs
     WHERE tenant = $1 AND flow_id BETWEEN $4::text::uuid AND $2::text::uuid AND (flow_id < $2::text::uuid OR flow_id = $4::text::uuid)
     ORDER BY flow_id DESC LIMIT 1)
    UNION ALL
    SELECT (SELECT flow_id FROM atlasqueue.flow_jobs WHERE tenant = $1 AND flow_id >= $4::text::uuid AND flow_id < one.id ORDER BY flow_id DESC LIMIT 1)
    FROM one WHERE one.id IS NOT NULL
  ), page AS MATERIALIZED (
    SELECT id, $1 AS tenant FROM one WHERE id IS NOT NULL LIMIT $3::int
  )
  SELECT page.id, counted.* FROM page CROSS JOIN ${countedOf("page")} AS counted ORDER BY page.id DESC`,
);
