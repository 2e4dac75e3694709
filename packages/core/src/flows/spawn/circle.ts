import { composed } from "../../database/composed.ts";
import { uuidArray } from "../../database/literals.ts";
import type { Execute } from "../../database/statement.ts";

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
