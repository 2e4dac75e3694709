import {
  limits,
  type FlowGraph,
  type FlowJob,
  type JobStatus,
  type OnParentFailure,
  isFinal,
} from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf, fitting, isCut } from "../memory-budget/bytes.ts";
import { findFlow } from "./list-flows.ts";

/** `next` is the place after which the next page begins. */
export type FlowView = Omit<FlowGraph, "next_cursor"> & { next: number | undefined };

/** As many as one request submits, and the one that depends on them all. */
const page_jobs = limits.batch_items_max + 1;

/**
 * A flow with a page of its jobs, in the order in which they were submitted; undefined when the tenant has none with
 * this id. Each may wait for thousands of others, so a page is cut at its bytes, as one of jobs is.
 *
 * @example
 * const { state, items } = (await viewFlow(deps, "default", id)) ?? {};
 */
export async function viewFlow(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
  after = -1,
): Promise<FlowView | undefined> {
  const flow = await findFlow(deps, tenant, id);
  if (!flow) return undefined;
  const rows = await executeOn(deps.database)<Row>({ text: jobsOfFlow, params: [tenant, id, after, page_jobs + 1] });
  const shown = rows.slice(0, page_jobs);
  const items = shown.map(showFlowJob);
  const next = rows[0]?.cut || rows.length > page_jobs ? shown.at(-1)?.place : undefined;
  const whole = after < 0 && next === undefined;
  return { ...flow, items, next, critical_path: whole ? criticalPath(items) : null };
}

type Row = Omit<FlowJob, "depends_on" | "started_at" | "finished_at"> & {
  place: number;
  cut: boolean;
  status: JobStatus;
  on_parent_failure: OnParentFailure;
  parents: { ref: string; id: string }[];
  started_at: Date | null;
  finished_at: Date | null;
};

function showFlowJob({ place: _place, cut: _cut, parents, started_at, finished_at, ...row }: Row): FlowJob {
  return {
    ...row,
    depends_on: parents.map(({ id }) => id),
    started_at: started_at?.toISOString() ?? null,
    finished_at: finished_at?.toISOString() ?? null,
  };
}

const columns =
  "id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents, last_error, started_at, finished_at";

const jobsOfFlow = composed(
  "flows/jobs",
  ["tenant", "id", "after", "jobs_max"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT job_id, jobs.id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents,
           left(last_error, 500) AS last_error, started_at, finished_at
    FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = $1
    WHERE flow_jobs.tenant = $1 AND flow_jobs.flow_id = $2::text::uuid AND place > $3::int ORDER BY place LIMIT $4::int
  ), ${fitting({ from: "atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = job_id", key: "job_id", order: "place", bytes: `${bytesOf("parents")} + coalesce(octet_length(left(last_error, 500)), 0)` })}
  SELECT ${columns}, ${isCut} AS cut FROM page WHERE job_id IN (SELECT job_id FROM fitting) ORDER BY place`,
);

type Job = Pick<FlowJob, "id" | "status" | "depends_on" | "finished_at">;

/**
 * The chain of jobs that the end of their flow hangs, or hung, on: from the job that ends last back to the parent that
 * ended last, and so on to the beginning. One that has not ended counts as ending later than all that have; of several,
 * the one at the end of the longest chain of such. Parents that are not among the jobs are left out.
 *
 * @example
 * criticalPath(jobs); // ["0192…", "0193…"], first to last
 */
export function criticalPath(jobs: readonly Job[]): string[] {
  const byId = new Map(jobs.map((one) => [one.id, one]));
  const parentsOf = (one: Job) => one.depends_on.flatMap((id) => byId.get(id) ?? []);
  const lengths = new Map<Job, number>();
  /** How many jobs that are not final a chain up to a job has at most. */
  const openUpTo = (one: Job): number => {
    const known = lengths.get(one);
    if (known !== undefined) return known;
    // Not even a broken table may make it go round.
    lengths.set(one, 0);
    const length = Math.max(0, ...parentsOf(one).map(openUpTo)) + (isFinal(one.status) ? 0 : 1);
    lengths.set(one, length);
    return length;
  };
  const endOf = (one: Job) => (isFinal(one.status) ? Date.parse(one.finished_at ?? "") || 0 : Infinity);
  const isLater = (one: Job, other: Job) =>
    endOf(one) > endOf(other) || (endOf(one) === endOf(other) && openUpTo(one) > openUpTo(other));
  const lastOf = (among: readonly Job[]) =>
    among.reduce<Job | undefined>((last, one) => (last && !isLater(one, last) ? last : one), undefined);

  const path: string[] = [];
  // Parents come before their children, so this ends; not even a broken table may make it go round.
  for (let one = lastOf(jobs); one && path.length < jobs.length; one = lastOf(parentsOf(one))) path.unshift(one.id);
  return path;
}
