import { jobStatuses, isFinal } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { removeJobs } from "./remove.ts";

/**
 * `ids` were removed, of which `were_dead` were dead letters. Of the others `awaited` stay, as other jobs wait for them,
 * and `locked`, as another transaction has them locked.
 */
export type Deleted = { ids: string[]; were_dead: string[]; awaited: string[]; locked: string[] };

type Gone = { id: string; dead: boolean };
type Row = { gone: Gone[] | null; awaited: string[] | null; locked: string[] | null };

const final = jobStatuses.filter(isFinal).map((status) => `'${status}'`);

/**
 * Finished jobs → gone, with their attempts, whatever they were kept for; an idempotency key that named one is free
 * again. Those that are not final, that others wait for, or that are locked, stay.
 *
 * @example
 * const { ids } = await deleteFinished(deps, "default", [id]);
 */
export async function deleteFinished(deps: Deps, tenant: string, wanted: readonly string[]): Promise<Deleted> {
  const [row] = await executeOn(deps.database)<Row>({
    text,
    params: [tenant, uuidArray(wanted)],
  });
  const gone = row?.gone ?? [];
  if (gone.length > 0) deps.observe({ event: "jobs_deleted", tenant, count: gone.length });
  const { awaited, locked } = { awaited: row?.awaited ?? [], locked: row?.locked ?? [] };
  return {
    awaited,
    locked,
    ids: gone.map(({ id }) => id),
    were_dead: gone.flatMap(({ id, dead }) => (dead ? [id] : [])),
  };
}

const isMeant = `id = ANY($2::uuid[]) AND tenant = $1 AND status IN (${final.join(", ")})`;

const text = composed(
  "jobs/delete",
  ["tenant", "ids"],
  `
  WITH free AS MATERIALIZED (
    SELECT id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs WHERE ${isMeant} FOR UPDATE SKIP LOCKED
  ), ${removeJobs("free")}
  SELECT (SELECT json_agg(json_build_object('id', id, 'dead', status = 'dead')) FROM gone) AS gone,
         (SELECT json_agg(id) FROM free WHERE id NOT IN (SELECT id FROM unawaited)) AS awaited,
         (SELECT json_agg(id) FROM atlasqueue.jobs WHERE ${isMeant} AND id NOT IN (SELECT id FROM free)) AS locked`,
);
