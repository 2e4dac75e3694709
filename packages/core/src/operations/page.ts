import type { OperationCursor, OperationRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import { pageAt, type DeadPage, type DeadPlace } from "../dead-letters/pages.ts";
import { pageOfIds, replay, replay_rows_max } from "../dead-letters/replay.ts";
import type { Deps } from "../deps.ts";
import { changeAll, findMeant, foundIn, nothing, type Changed } from "../jobs/bulk.ts";
import { writePayloads } from "../jobs/edit-and-retry.ts";
import { never_too_heavy } from "../memory-budget/bytes.ts";
import { readPatched } from "./patching.ts";
import { deadFilterOf } from "./rows.ts";

/** A page of payloads is read, patched and written: bounded as what a claim reads is. */
const patched_rows_max = never_too_heavy;

/** What one page did: `found` jobs were meant, and `next` is where the one after it begins, undefined at the end. */
export type OperationPage = { next: OperationCursor | undefined; found: number; changed: Changed };

/** Does one page of an operation, in the transaction that `within` is. */
export async function pageOfOperation(within: Deps, row: OperationRow): Promise<OperationPage> {
  const { kind, tenant, filter, cursor } = row;
  if (kind === "replay") return pageOfReplay(within, row);
  if (!("upper" in cursor)) throw new Error(`operation ${row.id} has no upper end`);
  const page = await findMeant(within, tenant, kind, filter, { below: cursor.below, upper: cursor.upper });
  const changed = await changeAll(within, tenant, kind, page);
  const next = page.next === undefined ? undefined : { upper: cursor.upper, below: page.next };
  return { next, found: foundIn(page, changed), changed };
}

async function pageOfReplay(within: Deps, row: OperationRow): Promise<OperationPage> {
  const rows_max = Math.min(row.patch ? patched_rows_max : replay_rows_max, Math.ceil(row.rate ?? replay_rows_max));
  const page = pageAt(deadFilterOf(row.tenant, row.filter), row.until_us, row.cursor, rows_max);
  if (!page) return { next: undefined, found: 0, changed: nothing };
  const { found, reached, ...revived } = await (row.patch
    ? replayPatched(within, row, page, rows_max)
    : replay(within, page, rows_max));
  const changed = { ...nothing, ids: revived.ids, revived, were_dead: revived.ids };
  return { next: nextPlace(row, page, reached, rows_max), found, changed };
}

/** With their patched payloads: no one sees the jobs before the commit. */
async function replayPatched(within: Deps, row: OperationRow, page: DeadPage, rows_max: number) {
  const execute = executeOn(within.database);
  const { found, reached, jobs } = await readPatched(execute, page, row, rows_max);
  const patched = jobs.filter(({ fits }) => fits).map(({ id, after }) => ({ id, payload: after }));
  const ids = patched.map(({ id }) => id);
  const revived = await replay(within, pageOfIds(page, ids));
  const given = patched.filter(({ id }) => revived.ids.includes(id));
  await writePayloads(execute, given);
  return { ...revived, found, reached };
}

function nextPlace(
  row: OperationRow,
  page: DeadPage,
  reached: DeadPlace | null,
  rows_max: number,
): OperationCursor | undefined {
  if (page.kind !== "ids") return reached ?? undefined;
  const at = ("at" in row.cursor ? row.cursor.at : 0) + rows_max;
  return at < new Set(row.filter.ids).size ? { at } : undefined;
}
