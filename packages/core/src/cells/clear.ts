import { firstId } from "../ids.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { removeOf } from "../jobs/remove.ts";
import { hint } from "../signal/announce.ts";
import type { Cell } from "./place.ts";
import { copyRows } from "./copy.ts";
import { heldQueues } from "./hold.ts";
import { movedTables } from "./tables.ts";

const page_max = 1_000;
/** Held in memory at once. With more, the rest waits for the next call. */
const collected_max = 50_000;
/** `left`: jobs that another program had begun to run there, or put into a group there. They stay until they have ended. */
export type Cleared = { collected: number; left: number };

/**
 * Remove the tenant from a cell that it is not in, page by page. Its rows there were copied, so they go. Jobs that the cell
 * of the tenant does not have are copied to it first: a caller's transaction submitted them here after the copy.
 */
export async function clear(cell: Cell, tenant: string, into: Cell): Promise<Cleared> {
  const execute = executeOn(cell.database);
  const queues = await heldQueues(cell, tenant);
  const missing: string[] = [];
  let left = 0;
  for (let after = firstId; ;) {
    const rows = await execute<{ id: string; movable: boolean }>({ text: page, params: [tenant, after] });
    const known = await executeOn(into.database)<{ id: string }>({
      text: "SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[])",
      params: [uuidArray(rows.map(({ id }) => id))],
    });
    const there = new Set(known.map(({ id }) => id));
    await remove(cell, tenant, [...there]);
    for (const { id, movable } of rows.filter((row) => !there.has(row.id)))
      if (movable && missing.length < collected_max) missing.push(id);
      else left += 1;
    if (rows.length < page_max) break;
    after = rows.at(-1)?.id ?? after;
  }
  if (missing.length > 0) await copyRows(cell, into, tenant, missing);
  for (let at = 0; at < missing.length; at += page_max) await remove(cell, tenant, missing.slice(at, at + page_max));
  for (const { name, isLeft } of movedTables) {
    // The places in a group are the row's.
    if (name === "jobs" || (name === "job_groups" && left > 0)) continue;
    const text = `
      WITH gone AS (
        DELETE FROM atlasqueue.${name} WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM atlasqueue.${name} WHERE tenant = $1${isLeft ? ` AND ${isLeft} IS NOT TRUE` : ""} LIMIT ${page_max}))
        RETURNING 1
      ) SELECT count(*)::int AS gone FROM gone`;
    let gone = page_max;
    while (gone === page_max) [{ gone } = { gone: 0 }] = await execute<{ gone: number }>({ text, params: [tenant] });
  }
  // Wake-ups that are left over.
  for (const queue of queues) await quietly(() => cell.signal.setMarked({ tenant, queue }, false));
  return { collected: missing.length, left };
}

/** The sweep repairs what Redis lacks. */
export const quietly = (call: () => Promise<unknown>) => hint(() => {}, "move", call);

const page = `
  SELECT id, status <> 'running' AND (group_key IS NULL OR group_seq = 0 OR finished_at IS NOT NULL) AS movable
  FROM atlasqueue.jobs WHERE tenant = $1 AND id > $2::text::uuid ORDER BY id LIMIT ${page_max}`;

async function remove({ database, signal }: Cell, tenant: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const dead = await executeOn(database)<{ id: string }>({ text: removeText, params: [tenant, uuidArray(ids)] });
  if (dead.length > 0) await quietly(() => signal.deadLetters.remove(dead.map(({ id }) => id)));
}

const removeText = `
  WITH gone AS (
    DELETE FROM atlasqueue.jobs WHERE tenant = $1 AND id = ANY($2::uuid[])
    RETURNING id, tenant, queue, dead_at, status AS from_status, NULL AS to_status
  ), ${removeOf("job_attempts", "job_id", "gone")}, ${removeOf("job_state", "job_id", "gone")},
  ${removeOf("flow_jobs", "job_id", "gone")}, ${removeOf("flow_edges", "child", "gone")}, ${countMixedMoves("gone")}
  SELECT id FROM gone WHERE dead_at IS NOT NULL`;
