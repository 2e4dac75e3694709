import { mergePatch, type JsonObject } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { unindexed } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { pageParameters, pageParams, type DeadPage, type DeadPlace } from "../dead-letters/pages.ts";
import { pageBounded, reachedFrom } from "../dead-letters/take.ts";
import { mayBeStored } from "../jobs/edit-and-retry.ts";

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
