import { firstId, lastId } from "../ids.ts";
import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { countJobs } from "../counts/total.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { textArray } from "../database/literals.ts";
import { executeOn, type Statement } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt } from "../maintenance/retention.ts";
import { pageColumns, pageRow, weighedJobs, type PageRow, type ReadRow } from "./page-row.ts";
import { fitting, isCut, page_bytes_max } from "../memory-budget/bytes.ts";

export type JobFilter = {
  queue?: string | undefined;
  type?: string | undefined;
  status?: JobStatus | undefined;
  group?: string | undefined;
  tag?: string | undefined;
  /** Of its error's pattern: only dead jobs have one. */
  fingerprint?: string | undefined;
  /** The running ones of this worker. */
  worker?: string | undefined;
  /** Both ends included. */
  created_after?: string | undefined;
  created_before?: string | undefined;
};

type ListFilter = JobFilter & { statuses?: readonly JobStatus[] | undefined };
/**
 * `skip`: how many of the newest jobs that the filter matches are left out. `patterns`: of the texts of which each job has
 * one, for ILIKE.
 */
type ListOptions = { skip?: number; patterns?: readonly string[]; ms_max?: number };

/**
 * `next` is where the next page begins: below this id. Undefined at the end. `looked_at` is how many jobs, of any tenant,
 * were looked at for a page that is not full and has a next one; `read` of how many the texts were read.
 */
export type JobRows = { rows: PageRow[]; next: string | undefined; looked_at?: number | undefined; read?: number };

/** A page ends after this, however few it found. Each of its statements has the database's deadline besides. */
const look_ms_max = 800;
/** Jobs one statement looks at, of any tenant: few at first, and twice as many after each that was quick. */
const stretch_jobs_min = 1_250;
const stretch_jobs_max = 20_000;
/** Of how many it reads the texts: each may have a payload of 256 KiB. */
const read_jobs_min = 50;
const read_jobs_max = 2_000;
const quick_ms = 60;
/**
 * How many jobs in such a status a statement may read, as they are not all the caller's: 40 ms. Beyond that, one
 * tenant's list would wait for another's backlog.
 */
export const held_apart_max = 100_000;
/**
 * A tenant's jobs, newest first. No index serves it, as one that every insert and claim had to maintain would cost them
 * a fifth: it walks the primary key, which is in order of creation, in stretches, for up to a second. A page may
 * therefore be short, or empty, and still have a next one; so may one of large jobs, as a page is bounded by its bytes
 * too. If the first stretch does not fill the page, the status's own partial index does, while it has few jobs.
 *
 * @example
 * const { rows, next } = await listJobs(deps, "default", { status: "dead" }, 50, undefined);
 */
export async function listJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: ListFilter,
  jobs_max: number,
  below: string | undefined,
  { skip = 0, patterns = [], ms_max = look_ms_max }: ListOptions = {},
): Promise<JobRows> {
  const rows: PageRow[] = [];
  const end = performance.now() + ms_max;
  let last = below;
  let bytes_left = page_bytes_max;
  let looked_at = 0;
  let read = 0;
  let size = 1;
  let to_skip = skip;
  do {
    const began = performance.now();
    const stretch = Math.min(stretch_jobs_max, stretch_jobs_min * size);
    const wanted = jobs_max - rows.length;
    const readable = patterns.length > 0 ? Math.min(read_jobs_max, read_jobs_min * size) : wanted;
    const place = [...paramsOf(tenant, filter, wanted, last), to_skip, stretch, bytes_left];
    const params = [...place, textArray(patterns), readable, filter.tag ?? ""];
    const found = await executeOn(deps.database)<Row>({ text: ofStretch, params }).catch((error: unknown) => {
      // Small jobs were followed by large ones: the next page begins with few of them.
      if (error instanceof DatabaseTimeoutError && last !== below) return undefined;
      throw error;
    });
    if (!found) break;
    rows.push(...jobsOf(found));
    last = found[0]?.last ?? undefined;
    read += found[0]?.read ?? 0;
    bytes_left -= found[0]?.bytes ?? 0;
    to_skip -= found[0]?.skipped ?? 0;
    const cut = found[0]?.cut === true || (last !== undefined && bytes_left <= 0);
    if (last === undefined || rows.length === jobs_max || cut) return { ...pageOf(rows, jobs_max, last, cut), read };
    if (looked_at === 0 && patterns.length === 0) {
      // The kept counts know of what no stretch would find.
      if (rows.length === 0 && !(await mayHold(deps, tenant, filter))) return { rows, next: undefined };
      const among = await inIndex(deps, filter, [...paramsOf(tenant, filter, jobs_max, below), skip], jobs_max);
      if (among) return among;
    }
    looked_at += stretch;
    size = performance.now() - began < quick_ms ? Math.min(size * 2, size_max) : Math.max(1, size / 2);
  } while (performance.now() < end);
  return { ...pageOf(rows, jobs_max, last), looked_at, read };
}

const size_max = 64;

/** Undefined if no index has the filter's statuses, or too many jobs for a page. */
async function inIndex(
  deps: Pick<Deps, "database">,
  filter: ListFilter,
  params: Statement["params"],
  jobs_max: number,
): Promise<JobRows | undefined> {
  const { fingerprint, worker, tag } = filter;
  const implied = fingerprint !== undefined ? "dead" : worker !== undefined ? "running" : undefined;
  // The index of tags has jobs in every status.
  const statuses = tag === undefined ? (statusesOf(filter) ?? (implied && [implied])) : [];
  if (!statuses?.every((status) => heldApart.has(status))) return undefined;
  const among = await executeOn(deps.database)<Row>({
    text: amongFew,
    params: [...params, textArray(statuses), tag ?? ""],
  });
  return among[0]?.too_many ? undefined : pageOf(jobsOf(among), jobs_max, undefined, among[0]?.cut);
}

const statusesOf = ({ status, statuses }: ListFilter) => statuses ?? (status && [status]);

/** Whether the tenant has jobs of the filter's queue and statuses at all. */
async function mayHold(deps: Pick<Deps, "database">, tenant: string, filter: ListFilter): Promise<boolean> {
  const counts = await countJobs(deps, tenant, { queue: filter.queue });
  return (statusesOf(filter) ?? jobStatuses).some((one) => counts[one] !== 0);
}

const jobsOf = (rows: readonly Row[]): PageRow[] =>
  rows.filter(({ id }) => (id as string | null) !== null).map(pageRow);

function pageOf(rows: PageRow[], jobs_max: number, last: string | undefined, cut = false): JobRows {
  return { rows, next: rows.length === jobs_max || cut ? rows.at(-1)?.id : last && withoutChance(last) };
}

type Row = ReadRow & {
  last: string | null;
  skipped: number;
  read: number;
  too_many: boolean;
  bytes: number;
  cut: boolean;
};

/** Of a list's parameters, what is asked of a job besides its place. */
const matches = (
  tag: string,
) => `tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND (cardinality($5::text[]) = 0 OR status = ANY($5::text[]))
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running')) AND (${tag} = '' OR tags @> ARRAY[${tag}])`;

// A range rather than `'' OR queue =`: a prepared statement's plan must seek the queue, whichever calls came before.
const ours = "tenant = $2 AND queue BETWEEN $3 AND coalesce(nullif($3, ''), '~')";
/**
 * Queries for the ids of jobs in the statuses that an index, or the claims, separate from the history. The results may
 * belong to other tenants or have another status: the job's row decides.
 */
const idQueries: readonly (readonly [JobStatus[], string])[] = [
  [["scheduled", "failed"], `SELECT id FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND ${ours}`],
  [["blocked"], `SELECT id FROM atlasqueue.jobs WHERE group_seq IS NOT NULL AND ${ours}`],
  [["queued"], `SELECT id FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND ${ours}`],
  [["dead"], "SELECT id FROM atlasqueue.jobs WHERE dead_at IS NOT NULL"],
  [["running"], "SELECT unnest(job_ids) AS id FROM atlasqueue.claims WHERE true"],
];
const heldApart = new Set(idQueries.flatMap(([statuses]) => statuses));

const listParameters = "below tenant queue type statuses group jobs_max fingerprint above worker".split(" ");

/** A filter and a place as the parameters of a list. The ids are in order of creation, so a time is a place. */
function paramsOf(tenant: string, filter: ListFilter, jobs_max: number, below: string = lastId) {
  const { queue = "", type = "", group = "", fingerprint = "", worker = "" } = filter;
  const { created_after, created_before } = filter;
  const last = created_before === undefined ? lastId : firstIdAt(new Date(Date.parse(created_before) + 1));
  const above = created_after === undefined ? firstId : firstIdAt(new Date(created_after));
  const statuses = textArray(statusesOf(filter) ?? []);
  return [below < last ? below : last, tenant, queue, type, statuses, group, jobs_max, fingerprint, above, worker];
}

const inStretch = `
      SELECT id, ${matches("$16")} AS found FROM atlasqueue.jobs
      WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT $12::int`;

// A stretch without a match returns one row with only `last`. The last stretch is the one that is not full. The cheap
// conditions come first: texts are read only of `candidates`. A full page does not ask where its stretch ends. Sorted by
// `jobs.id`, as a bare `id` is the text column, and all jobs would be sorted by it.
const ofStretch = composed(
  "jobs/list-in-stretch",
  [...listParameters, "skip", "stretch_jobs_max", "bytes_max", "patterns", "read_jobs", "tag"],
  `
  WITH RECURSIVE candidates AS MATERIALIZED (
    SELECT id FROM (${inStretch}) AS stretch WHERE found OFFSET $11::int LIMIT $15::int
  ), page AS MATERIALIZED (
    SELECT id FROM candidates WHERE cardinality($14::text[]) = 0 OR (
      SELECT payload::text ILIKE ANY ($14::text[]) OR last_error ILIKE ANY ($14::text[]) OR result::text ILIKE ANY ($14::text[])
      FROM atlasqueue.jobs WHERE jobs.id = candidates.id)
    LIMIT $7::int
  ), ${fitting(weighedJobs, "$13::int")}
  SELECT jobs.*, ends.last, ends.skipped, ends.read, ends.bytes, ends.cut, false AS too_many FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) = $7::int THEN NULL
                WHEN (SELECT count(*) FROM candidates) = $15::int THEN (SELECT min(id::text) FROM candidates)
                ELSE (SELECT id::text FROM atlasqueue.jobs WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY jobs.id DESC OFFSET $12::int - 1 LIMIT 1)
           END AS last,
      CASE WHEN $11::int = 0 OR EXISTS (SELECT FROM page) THEN $11::int
           ELSE (SELECT count(*)::int FROM (${inStretch}) AS stretch WHERE found) END AS skipped,
      (SELECT count(*)::int FROM candidates) AS read,
      (SELECT coalesce(max(bytes), 0)::float8 FROM fitting) AS bytes, ${isCut} AS cut
  ) AS ends LEFT JOIN (SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting))) AS jobs ON true
  ORDER BY jobs.id DESC`,
);

// One row with only `too_many` comes when no job matches, or when there are too many to use. Only the queries of the
// wanted statuses read anything. Each has its own bound, as a UNION would read all of them first.
const amongFew = composed(
  "jobs/list-held-apart",
  [...listParameters, "skip", "held_apart", "tag"],
  `
  WITH RECURSIVE few AS MATERIALIZED (${idQueries
    .map(([statuses, ids]) => `(${ids} AND $12::text[] && '{${statuses.join(",")}}' LIMIT ${held_apart_max + 1})`)
    .join(" UNION ALL ")}
    UNION ALL (SELECT id FROM atlasqueue.jobs WHERE $13 <> '' AND tags @> ARRAY[$13] AND tenant = $2 LIMIT ${held_apart_max + 1})), page AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid AND id > $9::text::uuid AND (SELECT count(*) FROM few) <= ${held_apart_max})) AND ${matches("$13")}
    ORDER BY id DESC OFFSET $11::int LIMIT $7::int
  ), ${fitting(weighedJobs)}
  SELECT jobs.*, NULL AS last, 0 AS skipped, 0 AS read, ends.too_many, 0 AS bytes, ends.cut FROM (
    SELECT count(*) > ${held_apart_max} AS too_many, ${isCut} AS cut FROM few
  ) AS ends LEFT JOIN (SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting))) AS jobs ON true
  ORDER BY jobs.id DESC`,
);

/**
 * An id with its random part set to zero. A stretch may end at another tenant's job: only its time and the counter
 * within it are shown, not its id. The counter must stay, as jobs of one batch differ in nothing else: it ends with the
 * eleventh byte (see `newId`).
 */
export function withoutChance(id: string): string {
  return `${id.slice(0, 26)}0000000000`;
}
