import { composed } from "../../database/composed.ts";
import { unindexed } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { isDue } from "../close-edges.ts";

/** An edge, as the place that a walk has come to. */
export type EdgePlace = { parent: string; child: string };

/** `next` is where the next step goes on; undefined when all has been looked at. */
export type NotedParents = { notes: number; next: EdgePlace | undefined };
export type NotedChildren = { notes: number; next: string | undefined };

/**
 * Notes for parents that ended, started anew or were removed without one, as a version does that knows nothing of flows:
 * those with an edge that is not as their status wants it. A note and what it asks for are committed together, so in one
 * snapshot such an edge has a note, or lacks it for good. A step looks at `edges_max` edges, in the order of their key.
 *
 * @example
 * const { next } = await noteMissedParents(deps, { parent: firstId, child: firstId }, 500);
 */
export async function noteMissedParents(
  deps: Pick<Deps, "database">,
  after: EdgePlace,
  edges_max: number,
): Promise<NotedParents> {
  type Row = { looked_at: number; last: EdgePlace | null; notes: number };
  const params = [after.parent, after.child, edges_max];
  const [row] = await executeOn(deps.database)<Row>({ text: parentsText, params });
  return { notes: row?.notes ?? 0, next: row?.looked_at === edges_max ? (row.last ?? undefined) : undefined };
}

/**
 * The same for jobs that wait for no parent any more, and of which nobody knows. A step looks at `jobs_max` jobs of
 * flows, in the order of their ids.
 *
 * @example
 * const { next } = await noteMissedChildren(deps, firstId, 500);
 */
export async function noteMissedChildren(
  deps: Pick<Deps, "database">,
  after: string,
  jobs_max: number,
): Promise<NotedChildren> {
  type Row = { looked_at: number; last: string | null; notes: number };
  const [row] = await executeOn(deps.database)<Row>({ text: childrenText, params: [after, jobs_max] });
  return { notes: row?.notes ?? 0, next: row?.looked_at === jobs_max ? (row.last ?? undefined) : undefined };
}

/** A part that notes `missed`, unless it is noted already: the notes are read only when there is one. */
const noteMissed = (role: "parent" | "child") => `noted AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT id, '${role}', tenant FROM missed
    WHERE id NOT IN (SELECT job_id FROM flow_notes WHERE role = '${role}') RETURNING job_id
  )`;

// Rows of jobs are found by LATERAL, never by a join, which could be planned as a scan of the whole table.
const parentsText = composed(
  "flows/note-missed-parents",
  ["after_parent", "after_child", "edges_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT parent, child, on_parent_failure, failed FROM flow_edges
    WHERE (parent, child) > ($1::text::uuid, $2::text::uuid) ORDER BY parent, child LIMIT $3::int
  ), parents AS MATERIALIZED (
    SELECT asked.id, coalesce(job.status, 'gone') AS status, coalesce(job.tenant, '') AS tenant
    FROM (SELECT DISTINCT parent AS id FROM page) AS asked
    LEFT JOIN LATERAL (SELECT status, tenant FROM jobs WHERE jobs.id = asked.id OFFSET 0) AS job ON true
  ), missed AS MATERIALIZED (
    SELECT DISTINCT parents.id, tenant FROM parents JOIN page ON ${isDue("page")}
  ), ${noteMissed("parent")}
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT count(*)::int FROM noted) AS notes,
         (SELECT json_build_object('parent', parent, 'child', child) FROM page ORDER BY parent DESC, child DESC LIMIT 1) AS last`,
);

const childrenText = composed(
  "flows/note-missed-children",
  ["after", "jobs_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT job_id AS id FROM flow_jobs WHERE job_id > $1::text::uuid ORDER BY job_id LIMIT $2::int
  ), missed AS MATERIALIZED (
    SELECT page.id, tenant FROM page CROSS JOIN LATERAL (
      SELECT tenant FROM jobs WHERE jobs.id = page.id AND status = 'blocked' AND ${unindexed("blocked_seq")} = 0 OFFSET 0) AS job
    WHERE (SELECT true FROM flow_edges WHERE child = page.id LIMIT 1) IS NULL
      AND (SELECT true FROM arrivals WHERE arrivals.job_id = page.id) IS NULL
  ), ${noteMissed("child")}
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT count(*)::int FROM noted) AS notes`,
);
