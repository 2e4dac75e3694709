import type { JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { sentTogether } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { pageParameters, pageParams, type DeadPlace, type StartsPage } from "./pages.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { startAnew } from "../jobs/start-anew.ts";
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
  const { absent, present } = texts[page.kind];
  const answers = await sentTogether(deps.database, [
    { text: absent, params },
    { text: present, params },
  ]);
  const [first, second] = answers.map((rows) => rows[0] as Row | undefined);
  const jobs = [...(first?.jobs ?? []), ...(second?.jobs ?? [])];
  if (page.kind === "stopped")
    for (const { id, type, queue, tenant, was } of jobs)
      deps.observe({ event: "job_retried", job_id: id, job_type: type, queue, tenant, was });
  else if (jobs.length > 0) deps.observe({ event: "jobs_replayed", tenant: page.tenant, count: jobs.length });
  return {
    found: (first?.jobs ?? []).length + (second?.found ?? 0),
    reached: second?.reached ?? null,
    ids: jobs.map(({ id }) => id),
    ready: jobs.filter(({ status }) => status === "queued"),
  };
}

/** The same page's jobs with these ids alone. */
export function pageOfIds({ kind, tenant, until_us }: StartsPage, ids: readonly string[]): StartsPage {
  return { kind: kind === "stopped" ? kind : "ids", tenant, ids, rest: [], until_us };
}

/**
 * Groups without a row get one first, in the order that all statements use to create them: the transaction holds no
 * other group by then, so that no two can each hold a group and wait for the other's. Then groups that have a row are
 * locked, if they are free: nothing is waited for.
 */
type Groups = "absent" | "present";

const rowOf = (row: string) => `
      FROM atlasqueue.job_groups AS known
      WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue AND known.group_key = ${row}.group_key`;
const hasNone = `(SELECT true ${rowOf("jobs")}) IS NULL`;
const ofPage = "FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND group_key IS NOT NULL";
const choices: Record<Groups, { before: string; only: string }> = {
  present: {
    before: `free_groups AS MATERIALIZED (
    SELECT free.* FROM (SELECT DISTINCT tenant, queue, group_key ${ofPage}) AS named CROSS JOIN LATERAL (
      SELECT tenant, queue, group_key ${rowOf("named")} FOR UPDATE SKIP LOCKED) AS free
  ),`,
    only: "(group_key IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM free_groups))",
  },
  absent: { before: "", only: `group_key IS NOT NULL AND ${hasNone}` },
};

/** The parameter after the page's own. */
const rowsMaxOf = (kind: StartsPage["kind"]) => `$${pageParameters[kind].length + 1}::int`;

const textOf = (kind: StartsPage["kind"], groups: Groups) => `
  WITH ${takeDead(kind, rowsMaxOf(kind), choices[groups])},
       ${startAnew("taken", "jobs.id, jobs.type, jobs.tenant, jobs.queue, jobs.priority, jobs.status", kind === "stopped" ? " AND false" : "")}
  SELECT ${reachedFrom(kind, rowsMaxOf(kind))}, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status, 'was', was)
                    ORDER BY id) FROM queued) AS jobs`;
const textsOf = (kind: StartsPage["kind"], name: string) => {
  const parameters = [...pageParameters[kind], "rows_max"];
  return {
    present: composed(name, parameters, textOf(kind, "present")),
    absent: composed(`${name}-absent`, parameters, textOf(kind, "absent")),
  };
};
const texts = {
  ids: textsOf("ids", "dead-letters/replay-ids"),
  stopped: textsOf("stopped", "jobs/retry-many"),
  walk: textsOf("walk", "dead-letters/replay-page"),
};
