import type { OperationCursor, OperationRow } from "../database/schema/index.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import { pageAt, type DeadPage, type DeadPlace, pageParameters, pageParams } from "../dead-letters/pages.ts";
import { pageOfIds, replay, replay_rows_max } from "../dead-letters/replay.ts";
import type { Deps } from "../deps.ts";
import { changeAll, findMeant, foundIn, nothing, type Changed } from "../jobs/bulk.ts";
import { writePayloads, mayBeStored } from "../jobs/edit-and-retry.ts";
import { never_too_heavy } from "../memory-budget/bytes.ts";
import { deadFilterOf } from "./rows.ts";
import { mergePatch, type JsonObject } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { unindexed } from "../database/literals.ts";
import { pageBounded, reachedFrom } from "../dead-letters/take.ts";

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

/** A dead letter before and after a patch; `fits` says whether that payload may be stored. */
type Patched = { id: string; type: string; queue: string; before: JsonObject; after: JsonObject; fits: boolean };
export type PatchedPage = { found: number; reached: DeadPlace | null; jobs: Patched[] };

/** A JSON merge patch, and how large a payload may be that it makes. */
export type Patch = { patch: JsonObject | null; payload_bytes_max: number };

/**
 * What a patch makes of the payloads of a page's dead letters, of which there are at most `rows_max`. Nothing is locked
 * for it: a payload stays what it is for as long as its job is dead.
 */
export async function readPatched(
  execute: Execute,
  page: DeadPage,
  { patch, payload_bytes_max }: Patch,
  rows_max: number,
): Promise<PatchedPage> {
  type Row = Omit<PatchedPage, "jobs"> & { jobs: Pick<Patched, "id" | "type" | "queue" | "before">[] | null };
  const [row] = await execute<Row>({ text: read, params: [...pageParams(page), rows_max] });
  const jobs = (row?.jobs ?? []).map((job) => {
    const after = patch === null ? job.before : (mergePatch(job.before, patch) as JsonObject);
    return { ...job, after, fits: mayBeStored(after, payload_bytes_max) };
  });
  return { found: row?.found ?? 0, reached: row?.reached ?? null, jobs };
}

const read = composed(
  "dead-letters/payloads",
  [...pageParameters, "rows_max"],
  `
  WITH ${pageBounded("$11::int")}
  SELECT ${reachedFrom("$11::int")}, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'queue', queue, 'before', payload) ORDER BY dead_at, id)
    FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND ${unindexed("dead_at")} IS NOT NULL) AS jobs`,
);
