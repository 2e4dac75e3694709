import type { JobStatus } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

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
 * partial index.
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
  const few = filter.status && fewIds[filter.status];
  type Row = JobRow & { last: string | null };
  const rows = await executeOn(deps.database)<Row>({
    text: few ? amongFew(few) : inStretch,
    params: [
      below ?? newest,
      tenant,
      ...[filter.queue, filter.type, filter.status, filter.group].map((value) => value ?? ""),
      jobs_max,
      ...(few ? [] : [stretch_jobs_max]),
    ],
  });
  const last = rows[0]?.last ?? undefined;
  const jobs = rows.flatMap(({ last: _last, ...row }) => ((row.id as string | null) === null ? [] : [row]));
  const next = jobs.length === jobs_max ? jobs.at(-1)?.id : last && withoutChance(last);
  return { rows: jobs, next };
}

const matches = `tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6)`;

// A row of nothing but `last` comes when the stretch has no match. The end of a stretch that was not full is the end.
const inStretch = `
  WITH stretch AS MATERIALIZED (
    SELECT id, ${matches} AS found FROM jobs WHERE id < $1::uuid ORDER BY id DESC LIMIT $8::int
  ), page AS MATERIALIZED (
    SELECT id FROM stretch WHERE found ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, ends.last FROM (
    SELECT CASE WHEN count(*) = $8::int THEN min(id::text) END AS last FROM stretch
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC`;

const fewIds: Partial<Record<JobStatus, string>> = {
  scheduled: "SELECT id FROM jobs WHERE due_at IS NOT NULL",
  failed: "SELECT id FROM jobs WHERE due_at IS NOT NULL",
  blocked: "SELECT id FROM jobs WHERE blocked_seq IS NOT NULL",
  dead: "SELECT id FROM jobs WHERE dead_at IS NOT NULL",
  running: "SELECT unnest(job_ids) AS id FROM lease_batches",
};

const amongFew = (ids: string) => `
  WITH few AS MATERIALIZED (${ids})
  SELECT jobs.*, NULL AS last FROM jobs
  WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid)) AND ${matches}
  ORDER BY id DESC LIMIT $7::int`;

/**
 * An id with its random part set to zero. Where a stretch ends may be another tenant's job: what is shown of it is the
 * time and the counter within it, and no id. The counter must stay, as jobs of one batch differ in nothing else: it ends
 * with the eleventh byte (see `newId`).
 */
export function withoutChance(id: string): string {
  return `${id.slice(0, 26)}0000000000`;
}
