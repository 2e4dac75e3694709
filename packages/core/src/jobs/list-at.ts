import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { countJobs } from "../counts/total.ts";
import { findJobs } from "./find.ts";
import type { PageRow } from "./page-bytes.ts";
import { few, held_apart_max, idsByStatus } from "./ids-by-status.ts";

export type JobsFilter = { queue?: string | undefined; statuses?: readonly JobStatus[] | undefined };
export type JobsAt = { limit: number; offset: number };

/** How many jobs one statement looks at: 20 ms, rather than a rare filter reading the whole history. */
const stretch_jobs_max = 20_000;
/** How many statements a page may take. Older jobs are left to `listJobs`, whose cursor starts where it stopped. */
const stretches_max = 10;

/**
 * A tenant's jobs, newest first, from an offset, and how many the filter matches in total. For callers that cannot keep
 * a cursor: skipping costs as much as reading, and new jobs push the others down; `listJobs` has neither flaw. The
 * total is exact. Where few jobs have the statuses, or matches are not rare, the page is exact too; otherwise it may be
 * short, as it looks only at the newest 200,000 jobs. One of large jobs ends at its bytes (`page_bytes_max`): what is
 * left begins at the offset plus the number of its jobs.
 *
 * @example
 * const { rows, total } = await listJobsAt(deps, "default", { statuses: ["dead"] }, { limit: 50, offset: 100 });
 */
export async function listJobsAt(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: JobsFilter,
  at: JobsAt,
): Promise<{ rows: PageRow[]; total: number }> {
  const statuses = filter.statuses ?? jobStatuses;
  const counts = await countJobs(deps, tenant, filter);
  const total = statuses.reduce((sum, status) => sum + counts[status], 0);
  if (at.offset >= total) return { rows: [], total };
  const present = statuses.filter((status) => counts[status] > 0);
  const indexed = present.every((status) => status in idsOf);
  const query = { tenant, queue: filter.queue ?? "", statuses: present, total, ...at };
  const among = indexed && total <= stretch_jobs_max ? await amongFew(deps, query) : undefined;
  const ids = among ?? (await inStretches(deps, query));
  return { rows: await findJobs(deps, tenant, ids), total };
}

type Query = { tenant: string; queue: string; statuses: readonly JobStatus[]; total: number } & JobsAt;

const idsOf = idsByStatus("$1", "$2");

const matches = "tenant = $1 AND ($2 = '' OR queue = $2) AND status = ANY($3::text[])";

/** Undefined when all tenants together have too many to use. */
async function amongFew(deps: Pick<Deps, "database">, query: Query): Promise<string[] | undefined> {
  const { tenant, queue, statuses, limit, offset } = query;
  const queries = [...new Set(statuses.map((status) => idsOf[status] ?? ""))];
  const text = `
    WITH ${few(queries)}
    SELECT count(*) > ${held_apart_max} AS too_many, to_json(ARRAY(
      SELECT id FROM atlasqueue.jobs
      WHERE id = ANY(ARRAY(SELECT id FROM few WHERE (SELECT count(*) FROM few) <= ${held_apart_max})) AND ${matches}
      ORDER BY id DESC LIMIT $4::int OFFSET $5::int)) AS ids
    FROM few`;
  const params = [tenant, queue, textArray(statuses), limit, offset];
  const [row] = await executeOn(deps.database)<{ too_many: boolean; ids: string[] }>({ text, params });
  return row?.too_many ? undefined : row?.ids;
}

/** An id with all bits set: every job is below it. */
const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Down the primary key, whose order is that of creation, until there is nothing left to find. */
async function inStretches(deps: Pick<Deps, "database">, query: Query): Promise<string[]> {
  const { total, limit, offset } = query;
  const ids: string[] = [];
  let below: string | null = newest;
  let seen = 0;
  for (let stretch = 0; stretch < stretches_max && below !== null; stretch += 1) {
    const rest = { skip: Math.max(offset - seen, 0), take: limit - ids.length };
    const row: Stretch = await lookBelow(deps, query, below, rest);
    ids.push(...row.ids);
    seen += row.found;
    if (ids.length === limit || seen >= total) break;
    below = row.last;
  }
  return ids;
}

async function lookBelow(
  deps: Pick<Deps, "database">,
  { tenant, queue, statuses }: Query,
  below: string,
  { skip, take }: { skip: number; take: number },
): Promise<Stretch> {
  const params = [tenant, queue, textArray(statuses), below, skip, take];
  const [row] = await executeOn(deps.database)<Stretch>({ text: inStretch, params });
  if (!row) throw new Error("an aggregate gave no row");
  return row;
}

type Stretch = { ids: string[]; found: number; last: string | null };

// The end of a stretch that was not full is the end.
const inStretch = composed(
  "jobs/list-at-in-stretch",
  ["tenant", "queue", "statuses", "below", "skip", "take"],
  `
  WITH stretch AS MATERIALIZED (
    SELECT id, ${matches} AS found FROM atlasqueue.jobs WHERE id < $4::uuid ORDER BY id DESC LIMIT ${stretch_jobs_max}
  )
  SELECT to_json(ARRAY(SELECT id FROM stretch WHERE found ORDER BY id DESC OFFSET $5::int LIMIT $6::int)) AS ids,
         (count(*) FILTER (WHERE found))::int AS found,
         CASE WHEN count(*) = ${stretch_jobs_max} THEN min(id::text) END AS last
  FROM stretch`,
);
