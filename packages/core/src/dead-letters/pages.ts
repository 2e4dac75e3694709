import { hidden, uuidArray } from "../database/literals.ts";
import type { Statement } from "../database/statement.ts";

/** Which dead letters of a tenant: those with these ids, or those of a queue, of a type, of both, or all. */
export type DeadFilter = { tenant: string } & (
  | { ids: readonly string[] }
  | { queue?: string | undefined; type?: string | undefined }
);

/**
 * A position in the order in which jobs died: the time in microseconds, as a JavaScript date would round it, and the
 * id.
 */
export type DeadPlace = { dead_us: number; id: string };

/** A part of the dead letters a filter matches: some of the ids, or what died after a position and by a time. */
export type DeadPage =
  | { kind: "ids"; tenant: string; ids: readonly string[]; rest: readonly string[] }
  | { kind: "walk"; tenant: string; queue: string; type: string; after: DeadPlace; until_us: number };

const ids_max = 500;
/** Rows one statement of a walk looks at, of any tenant: a rare filter must not read everything that ever died. */
export const stretch_jobs_max = 20_000;

/** The first page. What dies after `until_us` is left out, or a replay would go on forever with jobs that die again. */
export function firstPage(filter: DeadFilter, until_us: number): DeadPage | undefined {
  const { tenant } = filter;
  if ("ids" in filter) return pageOf(tenant, [...new Set(filter.ids)]);
  const after = { dead_us: 0, id: "00000000-0000-0000-0000-000000000000" };
  return { kind: "walk", tenant, queue: filter.queue ?? "", type: filter.type ?? "", after, until_us };
}

/** The page after one whose statement came to `reached`; undefined at the end. */
export function pageAfter(page: DeadPage, reached: DeadPlace | null): DeadPage | undefined {
  if (page.kind === "ids") return pageOf(page.tenant, page.rest);
  return reached ? { ...page, after: reached } : undefined;
}

function pageOf(tenant: string, ids: readonly string[]): DeadPage | undefined {
  if (ids.length === 0) return undefined;
  return { kind: "ids", tenant, ids: ids.slice(0, ids_max), rest: ids.slice(ids_max) };
}

/** What `pageParams` returns, by name. */
export const pageParameters = {
  ids: ["tenant", "ids"],
  walk: ["tenant", "queue", "type", "after_us", "after_id", "until_us"],
};

/** A page as parameters: $1 is the tenant; $2 the ids, or $2 … $6 the filter and where the walk starts and ends. */
export function pageParams(page: DeadPage): Statement["params"] {
  if (page.kind === "ids") return [page.tenant, uuidArray(page.ids)];
  return [page.tenant, page.queue, page.type, page.after.dead_us, page.after.id, page.until_us];
}

/** A page's dead letters, as conditions on jobs; for a walk in the order of the index on `dead_at`. */
export const pageConditions = {
  ids: { within: `id = ANY(${hidden("$2::uuid[]")})`, matches: "tenant = $1 AND dead_at IS NOT NULL" },
  walk: {
    within: `dead_at IS NOT NULL AND (dead_at, id) > (${timeOf("$4")}, $5::text::uuid) AND dead_at <= ${timeOf("$6")}`,
    matches: "tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3)",
  },
} as const satisfies Record<DeadPage["kind"], { within: string; matches: string }>;

/** A `DeadPlace` as JSON, for rows with dead_at and id. */
export const placeOf = `json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id)`;

/** The time a parameter gives in microseconds, exactly: below 2^53 a float8 has them all. */
export function timeOf(parameter: string): string {
  return `('epoch'::timestamptz + ${parameter}::float8 * interval '1 microsecond')`;
}
