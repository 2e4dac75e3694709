import { firstId } from "../ids.ts";
import { hidden, unindexed, uuidArray } from "../database/literals.ts";
import type { OperationCursor } from "../database/schema/index.ts";
import type { Statement } from "../database/statement.ts";
import { isStopped } from "../jobs/retry.ts";

/** What dead letters may have in common; the times of death are inclusive. */
type DeadTraits = {
  queue?: string | undefined;
  type?: string | undefined;
  tag?: string | undefined;
  fingerprint?: string | undefined;
  died_after?: string | undefined;
  died_before?: string | undefined;
};

/** Which dead letters of a tenant: those with these ids, or with all of these traits; without any, all. */
export type DeadFilter = { tenant: string } & ({ ids: readonly string[] } | DeadTraits);

/**
 * A position in the order in which jobs died: the time in microseconds, as a JavaScript date would round it, and the
 * id.
 */
export type DeadPlace = { dead_us: number; id: string };

type IdsPage = { tenant: string; ids: readonly string[]; rest: readonly string[]; until_us: number };

/** A part of the dead letters a filter matches: some of the ids, or what died after a position and by a time. */
export type DeadPage =
  | ({ kind: "ids" } & IdsPage)
  | ({ kind: "walk"; tenant: string; after: DeadPlace; until_us: number } & Wanted);

/** The same, or jobs with these ids that are to be retried: `stopped` ones, dead or not. */
export type StartsPage = DeadPage | ({ kind: "stopped" } & IdsPage);

type Wanted = { queue: string; type: string; tag: string; fingerprint: string };

const ids_max = 500;
/** Rows one statement of a walk looks at, of any tenant: a rare filter must not read everything that ever died. */
export const stretch_jobs_max = 20_000;

/** The first page. What dies after `until_us` is left out, or a replay would go on forever with jobs that die again. */
export function firstPage(filter: DeadFilter, until_us: number): DeadPage | undefined {
  const { tenant } = filter;
  if ("ids" in filter) return pageOf(tenant, [...new Set(filter.ids)], until_us);
  const { queue = "", type = "", tag = "", fingerprint = "", died_after, died_before } = filter;
  const after = { dead_us: microseconds(died_after) ?? 0, id: firstId };
  const last_us = Math.min(until_us, microseconds(died_before) ?? Infinity);
  return { kind: "walk", tenant, queue, type, tag, fingerprint, after, until_us: last_us };
}

const microseconds = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time) * 1_000);

/** The page at a place a replay has come to, of at most `rows_max` of its ids; undefined after the last of them. */
export function pageAt(
  filter: DeadFilter,
  until_us: number,
  place: OperationCursor,
  rows_max: number,
): DeadPage | undefined {
  if (!("ids" in filter)) {
    const first = firstPage(filter, until_us);
    return first?.kind === "walk" && "dead_us" in place ? { ...first, after: place } : first;
  }
  const at = "at" in place ? place.at : 0;
  const ids = [...new Set(filter.ids)];
  return pageOf(filter.tenant, ids.slice(at, at + rows_max), until_us);
}

/** The page after one whose statement came to `reached`; undefined at the end. */
export function pageAfter(page: DeadPage, reached: DeadPlace | null): DeadPage | undefined {
  if (page.kind === "ids") return pageOf(page.tenant, page.rest, page.until_us);
  return reached ? { ...page, after: reached } : undefined;
}

function pageOf(tenant: string, ids: readonly string[], until_us: number): DeadPage | undefined {
  if (ids.length === 0) return undefined;
  return { kind: "ids", tenant, ids: ids.slice(0, ids_max), rest: ids.slice(ids_max), until_us };
}

/** What `pageParams` returns, by name. */
export const pageParameters = [
  "tenant",
  "ids",
  "queue",
  "type",
  "fingerprint",
  "after_us",
  "after_id",
  "until_us",
  "stopped",
  "tag",
];

/** A page as parameters: without ids, the filter and where the walk starts. */
export function pageParams(page: StartsPage): Statement["params"] {
  const { tenant, kind, until_us } = page;
  if (kind !== "walk")
    return [tenant, uuidArray(page.ids), "", "", "", 0, firstId, until_us, String(kind === "stopped"), ""];
  const { queue, type, tag, fingerprint, after } = page;
  return [tenant, uuidArray([]), queue, type, fingerprint, after.dead_us, after.id, until_us, "false", tag];
}

const until = timeOf("$8");

/**
 * A page's jobs, as conditions on jobs: those with its ids, or those of a walk in the order of the index on `dead_at`, of
 * which some match. Of a page with ids, the walk reads nothing. `still` is asked of those that were found.
 */
export const pageConditions = {
  byIds: `id = ANY(${hidden("$2::uuid[]")})`,
  walk: `cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (${timeOf("$6")}, $7::text::uuid) AND dead_at <= ${until}`,
  matches:
    "tenant = $1 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR error_fingerprint = $5) AND ($10 = '' OR tags @> ARRAY[$10])",
  still: `tenant = $1 AND CASE WHEN $9::text::bool THEN ${isStopped} AND coalesce(${unindexed("dead_at")}, 'epoch') <= ${until}
                       ELSE ${unindexed("dead_at")} <= ${until} END`,
};

/** A `DeadPlace` as JSON, for rows with dead_at and id. */
export const placeOf = `json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id)`;

/** The place of the last row of a stretch that is full, of rows in an order: made of that row alone, not of all before it. */
export const endOfStretch = (rows: string) => `(
      SELECT ${placeOf} FROM (SELECT dead_at, id FROM ${rows} OFFSET ${stretch_jobs_max - 1} LIMIT 1) AS last)`;

/** The time a parameter gives in microseconds, exactly: below 2^53 a float8 has them all. */
export function timeOf(parameter: string): string {
  return `('epoch'::timestamptz + ${parameter}::float8 * interval '1 microsecond')`;
}
