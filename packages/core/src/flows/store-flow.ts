import { jsonArray, numberArray, textArray } from "../database/literals.ts";
import type { Draft } from "../submit/insert-jobs.ts";

/** What `flowParams` returns, by name: columns of the statement that submits, after its others. */
export const flowParameters = ["refs", "policies", "flow_ids", "flow_places", "spawned_by", "parents", "waits"];

export function flowParams(drafts: readonly Draft[]) {
  return [
    textArray(drafts.map(({ flow }) => flow?.ref)),
    textArray(drafts.map(({ flow }) => flow?.on_parent_failure)),
    textArray(drafts.map(({ flow }) => flow?.flow_id)),
    numberArray(drafts.map(({ flow }) => flow?.place)),
    textArray(drafts.map(({ flow }) => flow?.spawned_by)),
    jsonArray(drafts.map(({ flow }) => JSON.stringify(flow?.parents ?? []))),
    textArray(drafts.map(({ flow }) => String((flow?.parents.length ?? 0) > 0))),
  ];
}

/**
 * Parts of a WITH that store which job waits for which. `asked` is a part with the jobs of some flows and what each is in its
 * flow: `flow_id`, `flow_place`, `spawned_by`, `ref`, `on_parent_failure` and `parents`; `makes` is one with those that
 * are stored, and `seated` has the places in groups of those that wait for no one. The others have none yet: `seats` has
 * both.
 *
 * Parents that were there before are marked, so that their ends are heard of. The mark is written to their locked rows,
 * so none can end or be removed unnoticed in between. What those mean that have ended is said at once, as `closeEdges`
 * would have it: their edges are left out, or marked as failed. A child that has no other edge, or one that is marked, gets
 * a row `recheck_child`: one, however many it waits for. No one is waited for: `parentsLocked` when a parent cannot be had at once.
 *
 * The jobs that `giving` selects (as `seen`) give up their unique keys. They may be parents as well, and one statement updates a
 * row once.
 *
 * A job with `spawned_by` is added by the job of that id to its own flow, as that one ends: it is the first parent, and
 * is not waited for.
 */
export const storeFlows = (giving: string) => `edges AS MATERIALIZED (
    SELECT (parent ->> 'id')::uuid AS parent, id AS child, tenant, on_parent_failure FROM asked, json_array_elements(parents) AS parent WHERE waits
  ), earlier AS MATERIALIZED (
    SELECT DISTINCT parent AS id, tenant FROM edges WHERE parent NOT IN (SELECT id FROM asked)
  ), found AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM earlier)) AND (id, tenant) IN (SELECT id, tenant FROM earlier)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ), giving AS MATERIALIZED (${giving}), earlier_jobs AS (
    UPDATE atlasqueue.jobs SET has_children = CASE WHEN id IN (SELECT id FROM found) THEN true ELSE has_children END,
                    unique_key = CASE WHEN id NOT IN (SELECT seen FROM giving) THEN unique_key END,
                    unique_until = CASE WHEN id NOT IN (SELECT seen FROM giving) THEN unique_until END
    WHERE id = ANY(ARRAY(SELECT id FROM found UNION SELECT seen FROM giving))
    RETURNING id
  ), ties AS MATERIALIZED (
    SELECT parent, child, tenant, on_parent_failure, CASE
             WHEN parent IN (SELECT id FROM found WHERE status = 'succeeded') THEN 'over'
             WHEN parent IN (SELECT id FROM found WHERE status IN ('dead', 'cancelled')) THEN CASE on_parent_failure
               WHEN 'run' THEN 'over' WHEN 'cancel' THEN 'failed' ELSE 'open' END
             ELSE 'open' END AS tie
    FROM edges
  ), noted AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key)
    SELECT 'recheck_child', tenant, child::text FROM ties GROUP BY child, tenant HAVING bool_and(tie = 'over') OR bool_or(tie = 'failed')
  ), the_jobs AS (
    INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, ref, on_parent_failure, parents)
    SELECT tenant, id, flow_id, flow_place, ref, on_parent_failure, CASE WHEN spawned_by IS NULL THEN parents ELSE (
             jsonb_build_array(jsonb_build_object('ref', spawned_by, 'id', spawned_by)) || parents::jsonb)::json END
    FROM makes WHERE flow_id IS NOT NULL
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure, failed)
    SELECT tenant, parent, child, on_parent_failure, tie = 'failed' FROM ties WHERE tie <> 'over'
  )`;

/** True when a parent is locked by another, or gone: nothing may be stored. */
export const parentsLocked = "(SELECT count(*) FROM earlier) <> (SELECT count(*) FROM found)";

/** What a job's row says of its flow: columns, and their values. */
export const flowColumns = [
  "flow_id, has_children",
  "flow_id, CASE WHEN id IN (SELECT parent FROM edges) THEN true END",
] as const;
