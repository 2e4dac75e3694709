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

/** `next` is where the next page begins: below this id. Undefined at the end. */
export type JobRows = { rows: JobRow[]; next: string | undefined };

/** How many jobs one page looks at, of any tenant: 20 ms, rather than a rare filter reading the whole history. */
const stretch_jobs_max = 20_000;
/** An id with all bits set: every job is below it. */
const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * A tenant's jobs, newest first. No index serves it, as one that every insert and claim had to maintain would cost them
 * a fifth: it walks the primary key, which is in order of creation, in bounded stretches. A page may therefore be
 * short, or empty, and still have a next one. Rare statuses are looked up by their own partial index, while they stay
 * rare.
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

// A stretch without a match returns one row with only `last`. A stretch that was not full was the last.
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

// One row with only `too_many` comes when no job matches, or when there are too many to use.
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
    // Queued jobs may be the bulk, and then any stretch has some.
    .filter(([status]) => status !== "queued")
    .map(([status, ids]) => [status, composed(`jobs/list-${status}`, parameters, amongFew(ids))]),
);

/**
 * An id with its random part set to zero. A stretch may end at another tenant's job: only its time and the counter
 * within it are shown, not its id. The counter must stay, as jobs of one batch differ in nothing else: it ends with the
 * eleventh byte (see `newId`).
 */
export function withoutChance(id: string): string {
  return `${id.slice(0, 26)}0000000000`;
}
