import { composed } from "../../database/composed.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { isDue } from "../close-edges.ts";

/** `sample`: a job that waits so, and what it waits for. */
export type OverdueEdges = { count: number; sample: { parent: string; child: string } | null };

/**
 * Jobs that still wait for one which ended `overdue_ms` ago or longer, though its end lets them go on: a running sweep
 * would have told them. Looks at up to `edges_max` edges.
 *
 * @example
 * const { count } = await overdueEdges(deps, 15_000, 20_000);
 */
export async function overdueEdges(
  deps: Pick<Deps, "database">,
  overdue_ms: number,
  edges_max: number,
): Promise<OverdueEdges> {
  const [row] = await executeOn(deps.database)<OverdueEdges>({ text, params: [overdue_ms, edges_max] });
  return row ?? { count: 0, sample: null };
}

// Rows of jobs are found by LATERAL, never by a join, which could be planned as a scan of the whole table.
const text = composed(
  "flows/overdue-edges",
  ["overdue_ms", "edges_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT parent, child, on_parent_failure, failed FROM atlasqueue.flow_edges LIMIT $2::int
  ), parents AS MATERIALIZED (
    SELECT job.id, job.status
    FROM (SELECT DISTINCT parent AS id FROM page) AS asked, LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE jobs.id = asked.id AND finished_at < now() - $1::float8 * interval '1 millisecond' OFFSET 0) AS job
  ), overdue AS (
    SELECT page.parent, page.child FROM parents JOIN page ON ${isDue("page")}
  )
  SELECT count(*)::int AS count,
         (SELECT json_build_object('parent', parent, 'child', child) FROM overdue LIMIT 1) AS sample
  FROM overdue`,
);
