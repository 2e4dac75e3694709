import { composed } from "../database/composed.ts";
import type { JobStatus } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { few, held_apart_max, idsByStatus } from "./ids-by-status.ts";

export type JobFilter = {
  queue?: string | undefined;
  type?: string | undefined;
  status?: JobStatus | undefined;
  group?: string | undefined;
};

/** `next` is where the following page begins: below this id. Undefined when there is no more. */
export type JobRows = { rows: JobRow[]; next: string | undefined };

/** How many jobs one page looks at, whoever they are of: 20 ms, where a rare filter would read the whole history. */
const stretch_jobs_max = 20_000;
/** Ids with all bits set: every job is below. */
const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * A tenant's jobs, newest first. No index serves it, as an index that every insert and claim had to keep would cost
 * them a fifth: it walks the primary key, whose order is that of creation, in stretches of bounded length. A page may
 * therefore be short, or empty, and still have a next one. Statuses that few jobs have are looked up by their own
 * partial index, as long as it is few.
 *
 * @example
 * const { rows, next } = await listJobs(deps, "default", { status: "dead" }, 50, undefined);
 */
export async function listJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: JobFilter,
  jobs_max: number,
  below: string | undefined,
): Promise<JobRows> {
  const execute = executeOn(deps.database);
  const { queue = "", type = "", status = "", group = "" } = filter;
  const params = [below ?? newest, tenant, queue, type, status, group, jobs_max];
  const held = status === "" ? undefined : heldApart[status];
  const among = held === undefined ? undefined : await execute<Row>({ text: held, params });
  const rows =
    among && !among[0]?.too_many
      ? among
      : await execute<Row>({ text: inStretch, params: [...params, stretch_jobs_max] });
  const last = rows[0]?.last ?? undefined;
  const jobs = rows.flatMap(({ last: _last, too_many: _many, ...row }) =>
    (row.id as string | null) === null ? [] : [row],
  );
  const next = jobs.length === jobs_max ? jobs.at(-1)?.id : last && withoutChance(last);
  return { rows: jobs, next };
}

type Row = JobRow & { last: string | null; too_many: boolean };

const matches = `tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6)`;

const parameters = ["below", "tenant", "queue", "type", "status", "group", "jobs_max"];

// A row of nothing but `last` comes when the stretch has no match. The end of a stretch that was not full is the end.
const inStretch = composed(
  "jobs/list-in-stretch",
  [...parameters, "stretch_jobs_max"],
  `
  WITH stretch AS MATERIALIZED (
    SELECT id, ${matches} AS found FROM jobs WHERE id < $1::uuid ORDER BY id DESC LIMIT $8::int
  ), page AS MATERIALIZED (
    SELECT id FROM stretch WHERE found ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, ends.last, false AS too_many FROM (
    SELECT CASE WHEN count(*) = $8::int THEN min(id::text) END AS last FROM stretch
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC`,
);

// A row of nothing but `too_many` comes when no job matches, and when there are too many to go by.
const amongFew = (ids: string) => `
  WITH ${few([ids])}, page AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid AND (SELECT count(*) FROM few) <= ${held_apart_max})) AND ${matches}
    ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, NULL AS last, ends.too_many FROM (
    SELECT count(*) > ${held_apart_max} AS too_many FROM few
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC`;

const heldApart: Partial<Record<JobStatus, string>> = Object.fromEntries(
  Object.entries(idsByStatus("$2", "$3"))
    // Of the queued ones, which may be most of all, any stretch has some.
    .filter(([status]) => status !== "queued")
    .map(([status, ids]) => [status, composed(`jobs/list-${status}`, parameters, amongFew(ids))]),
);

/**
 * An id with its random part set to zero. Where a stretch ends may be another tenant's job: what is shown of it is the
 * time and the counter within it, and no id. The counter must stay, as jobs of one batch differ in nothing else: it ends
 * with the eleventh byte (see `newId`).
 */
export function withoutChance(id: string): string {
  return `${id.slice(0, 26)}0000000000`;
}
