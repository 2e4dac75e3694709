import { composed } from "../../database/composed.ts";
import { uuidArray } from "../../database/literals.ts";
import type { Execute } from "../../database/statement.ts";
import { newId } from "../../ids.ts";

/** A job that waits for another one, and for how many in all it was ever to wait. */
export type Dependant = { id: string; parents: number };

/**
 * The jobs that wait for a job, locked in the order of their ids. The transaction must have locked that job's row
 * before: until it commits, no edge of it is added, as its submission would have to mark that row, and none is closed;
 * and with the locks of this statement none of those edges goes because someone retries or removes its child.
 */
export async function lockDependants(execute: Execute, parent: string): Promise<readonly Dependant[]> {
  await execute({ text: lock, params: [parent] });
  // A statement of its own: an edge may have gone while that one waited for a row.
  return execute<Dependant>({ text: read, params: [parent] });
}

const lock = `
  SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT child FROM atlasqueue.flow_edges WHERE parent = $1::uuid))
  ORDER BY id FOR NO KEY UPDATE`;
const read = `
  SELECT child AS id, described.parents FROM atlasqueue.flow_edges CROSS JOIN LATERAL (
    SELECT json_array_length(parents) AS parents FROM atlasqueue.flow_jobs WHERE job_id = child OFFSET 0) AS described
  WHERE parent = $1::uuid`;

/**
 * The flow of a job that adds others, or a new one, and where in it they go. It is locked, so that two jobs of a flow that
 * add others at once do not give them the same places.
 */
export async function flowOfSpawner(
  execute: Execute,
  { tenant, flow_id }: { tenant: string; flow_id: string | null },
): Promise<{ flow_id: string; first_place: number; is_new: boolean }> {
  if (flow_id === null) return { flow_id: newId(), first_place: 1, is_new: true };
  await execute({ text: lockFlow, params: [flow_id] });
  // A statement of its own: it must see what the one before has waited for.
  const [row] = await execute<{ first_place: number }>({ text: free, params: [tenant, flow_id] });
  return { flow_id, first_place: row?.first_place ?? 0, is_new: false };
}

/** Until the transaction ends. Nothing else locks the first number. */
const lockFlow = "SELECT pg_advisory_xact_lock(20261130, hashtext($1))";
const free = `
  SELECT coalesce(max(place) + 1, 0) AS first_place FROM atlasqueue.flow_jobs WHERE tenant = $1 AND flow_id = $2::uuid`;

/**
 * Has those that wait for a job wait for its `children` as well, each as it waits for that job. They must be locked, and
 * the children must have been stored in the same transaction. As each has an edge still, none can have been released. With a
 * `new_flow_id`, a job that was in no flow becomes the first of the one it begins.
 */
export async function adoptChildren(
  execute: Execute,
  parent: string,
  children: readonly string[],
  new_flow_id: string,
): Promise<void> {
  await execute({ text: adopt, params: [parent, uuidArray(children), new_flow_id] });
}

const adopt = composed(
  "flows/adopt-children",
  ["parent", "children", "new_flow_id"],
  `
  WITH begun AS (
    UPDATE atlasqueue.jobs SET flow_id = nullif($3, '')::uuid WHERE id = $1::uuid AND $3 <> '' RETURNING tenant
  ), spawner AS (
    INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, on_parent_failure, parents)
    SELECT tenant, $1::uuid, nullif($3, '')::uuid, 0, 'cancel', '[]' FROM begun
  ), spawned AS MATERIALIZED (
    SELECT id, place FROM unnest($2::uuid[]) WITH ORDINALITY AS one(id, place)
  ), dependants AS MATERIALIZED (
    SELECT tenant, child, on_parent_failure FROM atlasqueue.flow_edges
    WHERE parent = $1::uuid AND EXISTS (SELECT FROM spawned)
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure)
    SELECT tenant, spawned.id, child, on_parent_failure FROM spawned, dependants
  ), described AS (
    UPDATE atlasqueue.flow_jobs SET parents = (parents::jsonb || (
      SELECT jsonb_agg(jsonb_build_object('ref', id, 'id', id) ORDER BY place) FROM spawned))::json
    WHERE job_id = ANY(ARRAY(SELECT child FROM dependants))
  )
  UPDATE atlasqueue.jobs SET has_children = true WHERE id = ANY(ARRAY(SELECT id FROM spawned))`,
);

/** Jobs that a look for a circle goes through. */
const awaited_max = 20_000;

/** `beyond` when there are too many jobs to tell. */
export type Circle = { kind: "none" | "beyond" } | { kind: "found"; dependant: string };

/**
 * Whether one of `dependants`, which are to wait for new jobs, is itself waited for by these: directly or over others,
 * through the jobs in `parents`, which were there before. The transaction looks alone: two at once, each of which sees
 * nothing of the other's edges, could close a circle together. Undefined when another one is looking: come back.
 */
export async function findCircle(
  execute: Execute,
  tenant: string,
  parents: readonly string[],
  dependants: readonly string[],
): Promise<Circle | undefined> {
  if (parents.length === 0 || dependants.length === 0) return { kind: "none" };
  const [turn] = await execute<{ ours: boolean }>({ text: takeTurn, params: [tenant] });
  if (!turn?.ours) return undefined;
  // A statement of its own: it must see what the one before has committed.
  const params = [uuidArray(parents), uuidArray(dependants), awaited_max + 1, tenant];
  const [row] = await execute<{ awaited: number; dependant: string | null }>({ text: walk, params });
  if (row?.dependant) return { kind: "found", dependant: row.dependant };
  return { kind: (row?.awaited ?? 0) > awaited_max ? "beyond" : "none" };
}

/** Of the tenant, until the transaction ends; never waited for. Nothing else locks the first number. */
const takeTurn = "SELECT pg_try_advisory_xact_lock(20261125, hashtext($1)) AS ours";

// Level by level, from a job to those it waits for; LATERAL, so that each is looked up by its id.
const walk = composed(
  "flows/find-circle",
  ["parents", "dependants", "awaited_max", "tenant"],
  `
  WITH RECURSIVE awaited(id) AS (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $4
    UNION
    SELECT edge.parent FROM awaited, LATERAL (
      SELECT parent FROM atlasqueue.flow_edges WHERE child = awaited.id OFFSET 0) AS edge
  ), seen AS MATERIALIZED (
    SELECT id FROM awaited LIMIT $3::int
  )
  SELECT (SELECT count(*)::int FROM seen) AS awaited,
         (SELECT id FROM seen WHERE id = ANY($2::uuid[]) LIMIT 1) AS dependant`,
);
