import type { JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageParameters, pageParams, type DeadPlace, type StartsPage } from "./pages.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { startAnew } from "../jobs/retry.ts";
import { reachedFrom, takeDead } from "./take.ts";

/** What was let start anew: `ready` are to be signalled. */
export type Revived = { ids: string[]; ready: ReadyJob[] };

/** Rows locked at once: 20 ms, so that nothing waits for a replay of a hundred thousand. */
export const replay_rows_max = 500;

type Row = {
  found: number;
  reached: DeadPlace | null;
  jobs: (ReadyJob & { type: string; status: "queued" | "blocked"; was: JobStatus })[] | null;
};

/**
 * dead → queued (or blocked, in a group), now and as if they were new: one step over dead letters, longest dead first.
 * Locked ones are found and skipped, as are those whose group is locked: a later call finds them again. Returns how many
 * matched, and where the next step continues. Jobs to be retried, dead or not, wait for all their parents, as these may
 * be retried too.
 *
 * @example
 * const { ready, reached } = await replay(deps, page);
 */
export async function replay(
  deps: Deps,
  page: StartsPage,
  rows_max = page.kind === "walk" ? replay_rows_max : page.ids.length,
): Promise<Revived & { found: number; reached: DeadPlace | null }> {
  const params = [...pageParams(page), rows_max];
  const [row] = await executeOn(deps.database)<Row>({ text, params });
  const jobs = row?.jobs ?? [];
  if (page.kind === "stopped")
    for (const { id, type, queue, tenant, was } of jobs)
      deps.observe({ event: "job_retried", job_id: id, job_type: type, queue, tenant, was });
  else if (jobs.length > 0) deps.observe({ event: "jobs_replayed", tenant: page.tenant, count: jobs.length });
  return {
    found: row?.found ?? 0,
    reached: row?.reached ?? null,
    ids: jobs.map(({ id }) => id),
    ready: jobs.filter(({ status }) => status === "queued"),
  };
}

/** The same page's jobs with these ids alone. */
export function pageOfIds({ kind, tenant, until_us }: StartsPage, ids: readonly string[]): StartsPage {
  return { kind: kind === "stopped" ? kind : "ids", tenant, ids, rest: [], until_us };
}

const rowOf = (row: string) => `
      FROM atlasqueue.job_groups AS known
      WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue AND known.group_key = ${row}.group_key`;

// Groups that have a row are locked now, if they are free. Those without get one, for which the statement may have to wait
// for another transaction that makes it: 200 ms at most, also should that one wait for a group locked here.
const groups = {
  before: `named AS MATERIALIZED (
    SELECT named.*, (SELECT true ${rowOf("named")}) IS NOT NULL AS is_known FROM (
      SELECT DISTINCT tenant, queue, group_key FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND group_key IS NOT NULL) AS named
  ), free_groups AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM named WHERE NOT is_known
    UNION ALL SELECT free.* FROM named CROSS JOIN LATERAL (
      SELECT tenant, queue, group_key ${rowOf("named")} FOR UPDATE SKIP LOCKED) AS free
  ),`,
  only: `(group_key IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM free_groups))`,
};

const columns = "jobs.id, jobs.type, jobs.tenant, jobs.queue, jobs.priority, jobs.status";
const text = composed(
  "dead-letters/replay",
  [...pageParameters, "rows_max"],
  `
  WITH ${takeDead("$11::int", groups)}, ${startAnew("taken", columns, " AND NOT $9::text::bool")}
  SELECT ${reachedFrom("$11::int")}, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status, 'was', was)
                    ORDER BY id) FROM queued) AS jobs`,
);
