import { lastId } from "../ids.ts";
import { composed } from "../database/composed.ts";
import { unindexed } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { endOfStretch, placeOf, stretch_jobs_max, timeOf, type DeadPlace } from "./pages.ts";
import { withoutChance } from "../jobs/list.ts";
import { pageColumns, pageRow, weighedJobs, type PageRow, type ReadRow } from "../jobs/page-row.ts";
import { fitting, isCut } from "../memory-budget/bytes.ts";

export type DeadFields = { queue?: string | undefined; type?: string | undefined; fingerprint?: string | undefined };
/** `next` is where the next page starts; undefined at the end. */
export type DeadRows = { rows: PageRow[]; next: DeadPlace | undefined };

/** Later than anything can have died. */
const newest: DeadPlace = { dead_us: 2 ** 53 - 1, id: lastId };

/**
 * A tenant's dead letters, most recently dead first: the order of the list in Redis. A page looks at no more than
 * 20,000 dead jobs, of any tenant, and at so many bytes (`page_bytes_max`), so it may be short or empty and still have a
 * next one. Those of one group, with its type and fingerprint, are found by their own index.
 *
 * @example
 * const { rows, next } = await listDead(deps, "default", { queue: "mail" }, 50, undefined);
 */
export async function listDead(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: DeadFields,
  jobs_max: number,
  before: DeadPlace = newest,
): Promise<DeadRows> {
  type Row = ReadRow & { place: DeadPlace | null; reached: DeadPlace | null; cut: boolean };
  const { queue = "", type = "", fingerprint = "" } = filter;
  const rows = await executeOn(deps.database)<Row>({
    text,
    params: [tenant, queue, type, before.dead_us, before.id, jobs_max, fingerprint],
  });
  const end = rows[0]?.reached;
  const jobs = rows.filter(({ place }) => place !== null);
  const last =
    (jobs.length === jobs_max || rows[0]?.cut ? jobs.at(-1)?.place : end && { ...end, id: withoutChance(end.id) }) ??
    undefined;
  return { rows: jobs.map(pageRow), next: last };
}

// Two searches, of which one begins: by the time of death, or by the index of groups if type and fingerprint are named.
const within = `dead_at IS NOT NULL AND (dead_at, id) < (${timeOf("$4")}, $5::text::uuid)`;
const inGroup = "tenant = $1 AND type = $3 AND error_fingerprint = $7";
const newestFirst = "ORDER BY dead_at DESC, id DESC";
const search = (columns: string, end: string) => {
  const one = (where: string) =>
    `(SELECT ${columns} FROM atlasqueue.jobs WHERE ${where} AND ${within} ${newestFirst} ${end})`;
  return `${one("'' IN ($3, $7)")}
      UNION ALL ${one(`'' NOT IN ($3, $7) AND ${inGroup}`)}`;
};

// The inner LIMIT bounds what a rare filter reads, the outer one ends the reading when the page is full; only a page
// that is not full asks where the stretch ended. When nothing matches, there is one row with only `reached`.
const text = composed(
  "dead-letters/list",
  ["tenant", "queue", "type", "before_us", "before_id", "jobs_max", "fingerprint"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      ${search(
        `id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3)
                          AND ($7 = '' OR error_fingerprint = $7) AS found`,
        `LIMIT ${stretch_jobs_max}`,
      )}
    ) AS stretch WHERE found ${newestFirst} LIMIT $6::int
  ), ${fitting({ ...weighedJobs, order: "dead_at DESC, id DESC" })}
  SELECT jobs.*, CASE WHEN id IS NOT NULL THEN ${placeOf} END AS place, ends.reached, ends.cut FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $6::int THEN ${endOfStretch(`(${search("dead_at, id", `LIMIT ${stretch_jobs_max}`)}) AS stretch`)} END AS reached,
      ${isCut} AS cut
  ) AS ends LEFT JOIN (SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting)) AND ${unindexed("dead_at")} IS NOT NULL) AS jobs ON true
  ORDER BY jobs.dead_at DESC, jobs.id DESC`,
);
