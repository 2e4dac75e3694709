import { hidden, unindexed, uuidArray } from "../database/literals.ts";
import type { OperationCursor } from "../database/schema/index.ts";
import type { Statement } from "../database/statement.ts";
import { isStopped } from "../jobs/retry.ts";

/** What dead letters may have in common; the times of death are inclusive. */
type DeadTraits = {
  queue?: string | undefined;
  type?: string | undefined;
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

type Wanted = { queue: string; type: string; fingerprint: string };

const ids_max = 500;
/** Rows one statement of a walk looks at, of any tenant: a rare filter must not read everything that ever died. */
export const stretch_jobs_max = 20_000;

/** The first page. What dies after `until_us` is left out, or a replay would go on forever with jobs that die again. */
export function firstPage(filter: DeadFilter, until_us: number): DeadPage | undefined {
  const { tenant } = filter;
  if ("ids" in filter) return pageOf(tenant, [...new Set(filter.ids)], until_us);
  const { queue = "", type = "", fingerprint = "", died_after, died_before } = filter;
  const after = { dead_us: microseconds(died_after) ?? 0, id: "00000000-0000-0000-0000-000000000000" };
  const last_us = Math.min(until_us, microseconds(died_before) ?? Infinity);
  return { kind: "walk", tenant, queue, type, fingerprint, after, until_us: last_us };
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
export const pageParameters = {
  ids: ["tenant", "ids", "until_us"],
  stopped: ["tenant", "ids", "until_us"],
  walk: ["tenant", "queue", "type", "after_us", "after_id", "until_us", "fingerprint"],
};

/** A page as parameters: $1 is the tenant; $2 … the ids, or the filter and where the walk starts and ends. */
export function pageParams(page: StartsPage): Statement["params"] {
  if (page.kind !== "walk") return [page.tenant, uuidArray(page.ids), page.until_us];
  const { tenant, queue, type, after, until_us, fingerprint } = page;
  return [tenant, queue, type, after.dead_us, after.id, until_us, fingerprint];
}

const amongIds = `tenant = $1 AND ${unindexed("dead_at")} <= ${timeOf("$3")}`;
const amongStopped = `tenant = $1 AND ${isStopped} AND coalesce(${unindexed("dead_at")}, 'epoch') <= ${timeOf("$3")}`;
const onWalk = (dead_at: string) =>
  `${dead_at} IS NOT NULL AND (${dead_at}, id) > (${timeOf("$4")}, $5::text::uuid) AND ${dead_at} <= ${timeOf("$6")}`;

/**
 * A page's dead letters, as conditions on jobs; for a walk in the order of the index on `dead_at`. `still` is asked of
 * those it has found, by their ids.
 */
export const pageConditions = {
  ids: { within: `id = ANY(${hidden("$2::uuid[]")})`, matches: amongIds, still: amongIds },
  stopped: { within: `id = ANY(${hidden("$2::uuid[]")})`, matches: amongStopped, still: amongStopped },
  walk: {
    within: onWalk("dead_at"),
    matches:
      "tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3) AND ($7 = '' OR error_fingerprint = $7)",
    still: onWalk(unindexed("dead_at")),
  },
} as const satisfies Record<StartsPage["kind"], { within: string; matches: string; still: string }>;

/** A `DeadPlace` as JSON, for rows with dead_at and id. */
export const placeOf = `json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id)`;

/** The time a parameter gives in microseconds, exactly: below 2^53 a float8 has them all. */
export function timeOf(parameter: string): string {
  return `('epoch'::timestamptz + ${parameter}::float8 * interval '1 microsecond')`;
}
