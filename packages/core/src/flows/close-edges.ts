import { firstId } from "../ids.ts";
import { composed } from "../database/composed.ts";
import type { Execute } from "../database/statement.ts";
import type { Handled, OutboxRow } from "../outbox/drain-page.ts";
import type { ReadyJob } from "../signal/signal.ts";

/** Edges looked at in one statement, shared among the tenants of its parents, and among each tenant's parents. */
const edges_max = 500;
/**
 * What the end of a parent, or its start anew, means for the jobs that wait for it: its edges are closed, or marked as
 * failed, or the mark goes, and each child gets a row `recheck_child`, which `releaseChildren` acts on.
 *
 * A page goes through a share of a parent's edges in the order of their children. The row goes on from there (`after`) in
 * the next page. An edge that another transaction has locked is skipped: then the row starts over later (`skipped`).
 *
 * A parent that was started anew is ready while it is locked here, and claims of the oldest jobs pass it over: `announce`
 * is called for it after the commit.
 */
export async function closeEdges(
  execute: Execute,
  rows: readonly OutboxRow[],
  announce?: (parents: readonly ReadyJob[]) => Promise<unknown>,
): Promise<Handled> {
  // Of two rows for one parent, the one with the earlier place covers the other.
  const parents = Map.groupBy(rows, ({ key }) => key);
  const first = [...parents.values()].map((same) => same.reduce((a, b) => (placeOf(a) <= placeOf(b) ? a : b)));
  const asked = first.map((row) => ({ id: row.key, tenant: row.tenant, after: placeOf(row) }));
  type Looked = ReadyJob & { reached: string | null; skipped: boolean; is_ready: boolean };
  const looked = await execute<Looked>({ text, params: [JSON.stringify(asked)] });
  const handled = { again: [] as OutboxRow[], later: [] as OutboxRow[] };
  for (const { id, reached, skipped: skips } of looked) {
    const row = first.find(({ key }) => key === id);
    if (!row) continue;
    const { after: _, skipped, ...rest } = row.payload ?? {};
    if (reached) handled.again.push({ ...row, payload: { ...rest, after: reached, skipped: skips || skipped } });
    else if (skips || skipped) handled.later.push({ ...row, payload: rest });
  }
  const ready = looked.filter(({ is_ready }) => is_ready);
  return { ...handled, committed: async () => void (await announce?.(ready)) };
}

const placeOf = ({ payload }: OutboxRow) => String(payload?.["after"] ?? firstId);

const failed = "parents.status IN ('dead', 'cancelled')";
const closes = `(parents.status = 'succeeded' OR ${failed} AND on_parent_failure = 'run')`;

/** Edges that are not yet as their parent's status wants them: a condition over `parents`, with the `id` and the `status` of each. */
export const isDue = (edge: string) => `CASE
        WHEN ${closes} THEN true
        WHEN ${failed} THEN on_parent_failure = 'cancel' AND NOT ${edge}.failed
        ELSE ${edge}.failed END`;

// The parents are locked, so their status is as it is now. A parent that is gone has no edge that could be due. Rows are
// found by LATERAL and `= ANY`, never by a join, which could be planned as a scan of the whole table.
const text = composed(
  "flows/close-edges",
  ["parents"],
  `
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS asked(id uuid, tenant text, after uuid)
  ), parents AS MATERIALIZED (
    SELECT asked.*, job.*, greatest(1, ${edges_max} / (
             count(*) OVER (PARTITION BY tenant) * (SELECT count(DISTINCT tenant) FROM asked))) AS share
    FROM asked
    CROSS JOIN LATERAL (SELECT status, queue, priority FROM atlasqueue.jobs WHERE jobs.id = asked.id OFFSET 0) AS job
  ), looks AS MATERIALIZED (
    SELECT parents.id, status, edge.* FROM parents CROSS JOIN LATERAL (
      SELECT child, ${isDue("flow_edges")} AS due FROM atlasqueue.flow_edges
      WHERE parent = parents.id AND child > parents.after ORDER BY child LIMIT parents.share) AS edge
  ), due AS MATERIALIZED (
    SELECT edge.* FROM looks AS parents CROSS JOIN LATERAL (
      SELECT ctid AS edge, ${closes} AS closes FROM atlasqueue.flow_edges
      WHERE parent = parents.id AND child = parents.child AND ${isDue("flow_edges")} FOR UPDATE SKIP LOCKED) AS edge
    WHERE parents.due
  ), closed AS (
    DELETE FROM atlasqueue.flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE atlasqueue.flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child, tenant FROM (SELECT * FROM closed UNION ALL SELECT * FROM marked) AS edge JOIN parents ON parents.id = edge.parent
  ), rechecks AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT DISTINCT 'recheck_child', tenant, child::text FROM done
  )
  SELECT id, tenant, queue, priority, status = 'queued' AS is_ready, skipped, CASE WHEN (SELECT true FROM atlasqueue.flow_edges WHERE parent = id AND child > reached LIMIT 1) THEN reached END AS reached
  FROM (
    SELECT parents.id, parents.tenant, queue, priority, parents.status, (array_agg(child ORDER BY child DESC))[1] AS reached,
           coalesce(bool_or(due AND (id, child) NOT IN (SELECT parent, child FROM done)), false) AS skipped
    FROM parents LEFT JOIN (SELECT id, child, due FROM looks) AS looked USING (id)
    GROUP BY parents.id, parents.tenant, queue, priority, parents.status) AS looked`,
);
