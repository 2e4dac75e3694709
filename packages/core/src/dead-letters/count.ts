import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import {
  endOfStretch,
  firstPage,
  pageAfter,
  pageConditions,
  pageParameters,
  pageParams,
  stretch_jobs_max,
  type DeadFilter,
  type DeadPage,
  type DeadPlace,
} from "./pages.ts";

/** What a filter matches as of now: what dies later is not included. */
export async function deadByNow(deps: Pick<Deps, "database">, filter: DeadFilter): Promise<DeadPage | undefined> {
  const [clock] = await executeOn(deps.database)<{ now_us: number }>({
    text: "SELECT (extract(epoch FROM now()) * 1000000)::float8 AS now_us",
    params: [],
  });
  return firstPage(filter, clock?.now_us ?? 0);
}

/**
 * A page of what has died by a whole millisecond, and that time, as a filter takes it: what is counted from there on is what
 * matches with it as `died_before`. Ids need none.
 */
export function byMillisecond(page: DeadPage | undefined): { page: DeadPage | undefined; died_before: string } {
  const until_ms = Math.floor((page?.until_us ?? 0) / 1_000);
  const died_before = new Date(until_ms).toISOString();
  return { page: page?.kind === "walk" ? { ...page, until_us: until_ms * 1_000 } : page, died_before };
}

/**
 * How many dead letters there are from a page on. Counted in stretches of 20,000 rows, 15 ms each, until `by` (a time
 * of `performance.now()`): if that comes first, there may be more than `count`.
 *
 * @example
 * const { count } = await countDead(deps, await deadByNow(deps, { tenant: "default" }), performance.now() + 1_000);
 */
export async function countDead(
  deps: Pick<Deps, "database">,
  from: DeadPage | undefined,
  by: number,
): Promise<{ count: number; complete: boolean }> {
  let count = 0;
  let page = from;
  while (page && performance.now() < by) {
    const [row] = await executeOn(deps.database)<{ count: number; reached: DeadPlace | null }>({
      text,
      params: pageParams(page),
    });
    count += row?.count ?? 0;
    page = pageAfter(page, row?.reached ?? null);
  }
  return { count, complete: page === undefined };
}

const { byIds, walk, matches, still } = pageConditions;
const text = composed(
  "dead-letters/count",
  pageParameters,
  `
  WITH stretch AS MATERIALIZED (
    (SELECT id, dead_at, ${matches} AS found FROM atlasqueue.jobs WHERE ${walk} ORDER BY dead_at, id LIMIT ${stretch_jobs_max})
    UNION ALL SELECT id, dead_at, ${still} FROM atlasqueue.jobs WHERE ${byIds}
  )
  SELECT count(*) FILTER (WHERE found)::int AS count,
         ${endOfStretch("stretch ORDER BY dead_at, id")} AS reached
  FROM stretch`,
);
