import { jsonArray, textArray } from "../database/literals.ts";
import type { Draft } from "../submit/insert-jobs.ts";

/** What `flowParams` returns, by name: columns of the statement that submits, after its others, and the flow's id. */
export const flowParameters = ["refs", "policies", "parents", "flow_id", "spawned_by", "first_place"];

export function flowParams(drafts: readonly Draft[]) {
  return [
    textArray(drafts.map(({ flow }) => flow?.ref)),
    textArray(drafts.map(({ flow }) => flow?.on_parent_failure)),
    jsonArray(drafts.map(({ flow }) => JSON.stringify(flow?.parents ?? []))),
    drafts[0]?.flow?.flow_id ?? "",
    drafts[0]?.flow?.spawned?.by ?? "",
    drafts[0]?.flow?.spawned?.first_place ?? 0,
  ];
}

/** Parameters that are the same for all jobs of a flow. */
type FlowColumns = Record<"flow_id" | "spawned_by" | "first_place", string>;

/**
 * Parts of a WITH that store who waits for whom. `asked` is a part with the jobs and their `ref`, `on_parent_failure`
 * and `parents`, `makes` one with those that are stored, and `seated` has the places in groups of those that wait for
 * no one. The others have none yet: `seats` has both.
 *
 * Parents that were there before are marked, so that their ends are heard of, and each gets a note, in case it has
 * ended. The mark is written to their locked rows, so none can end or be removed unnoticed in between. No one is waited
 * for: `parentsLocked` when one of them cannot be had at once.
 *
 * With `spawned_by`, the job of that id adds them to its own flow as it ends: it is the first parent of each, and none
 * waits for it.
 */
export const storeFlow = ({ flow_id, spawned_by, first_place }: FlowColumns) => `
  edges AS MATERIALIZED (
    SELECT (parent ->> 'id')::uuid AS parent, id AS child, on_parent_failure FROM asked, json_array_elements(parents) AS parent
  ), earlier AS MATERIALIZED (
    SELECT DISTINCT parent AS id FROM edges WHERE parent NOT IN (SELECT id FROM asked)
  ), found AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM earlier)) AND tenant = (SELECT tenant FROM asked LIMIT 1)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ), marked AS (
    UPDATE jobs SET has_children = true WHERE id = ANY(ARRAY(SELECT id FROM found))
  ), noted AS (
    INSERT INTO flow_notes (job_id, role) SELECT id, 'parent' FROM found
  ), the_flow AS (
    INSERT INTO flows (id, tenant, created_at) SELECT ${flow_id}, tenant, now() FROM asked LIMIT 1 ON CONFLICT DO NOTHING
  ), the_jobs AS (
    INSERT INTO flow_jobs (job_id, flow_id, place, ref, on_parent_failure, parents)
    SELECT id, ${flow_id}, ${first_place} + place - 1, ref, on_parent_failure,
           CASE WHEN ${spawned_by} = '' THEN parents ELSE (
             jsonb_build_array(jsonb_build_object('ref', ${spawned_by}, 'id', ${spawned_by})) || parents::jsonb)::json END
    FROM makes
  ), the_edges AS (
    INSERT INTO flow_edges (parent, child, on_parent_failure) SELECT parent, child, on_parent_failure FROM edges
  ), seats AS MATERIALIZED (
    SELECT id, seq, may_run, is_strict FROM seated
    UNION ALL SELECT id, 0, false, false FROM makes WHERE ${waitsForParents}
  )`;

/** Whether a job waits for others. Then it gets its place in its group, and the group's row is touched, once it is ready. */
export const waitsForParents = "json_array_length(parents) > 0";

/** True when a parent is locked by another, or gone: nothing may be stored. */
export const parentsLocked = "(SELECT count(*) FROM earlier) <> (SELECT count(*) FROM found)";

/** What a job's row says of its flow. */
export const flowColumns = ", flow_id, has_children";
export const flowValues = (flow_id: string) => `, ${flow_id}, CASE WHEN id IN (SELECT parent FROM edges) THEN true END`;
