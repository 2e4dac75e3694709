import { composed } from "../database/composed.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pageColumns, pageRow, weighedJobs, type PageRow, type ReadRow } from "./page-row.ts";
import { fitting, isCut, page_bytes_max } from "../room/bytes.ts";
import { listParameters, matches, paramsOf, withoutChance, type JobFilter } from "./list.ts";

/** What a search found, and how far it looked: `jobs` is how many it read, `next` where it goes on. */
export type Searched = { rows: PageRow[]; jobs: number; next: string | undefined };

/** A search ends after this, wherever it has come to. Each of its statements has the database's deadline besides. */
const search_ms_max = 400;
/** Jobs whose texts one statement reads: few at first, as each may have a payload of 256 KiB. */
const read_jobs_min = 50;
const read_jobs_max = 2_000;
/** A statement that took less time is followed by one that reads twice as many. */
const statement_ms = 60;
/** Jobs one statement looks at for those that the filter matches, of any tenant. */
const stretch_jobs_max = 20_000;

/**
 * A tenant's jobs with a text in payload, result or error, newest first: literally, in any case. No index could serve
 * it, so it reads the newest jobs that the filter matches for 400 ms, and says how far it came.
 *
 * @example
 * const { rows, jobs, next } = await searchJobs(deps, "default", { queue: "mail" }, "ada@example.org", 50, undefined);
 */
export async function searchJobs(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: JobFilter,
  text: string,
  jobs_max: number,
  below: string | undefined,
  ms_max = search_ms_max,
): Promise<Searched> {
  const end = performance.now() + ms_max;
  const patterns = textArray(patternsOf(text));
  const rows: PageRow[] = [];
  let next = below;
  let jobs = 0;
  let read_jobs = read_jobs_min;
  let bytes_left = page_bytes_max;
  let cut = false;
  do {
    const started = performance.now();
    const params = [...paramsOf(tenant, filter, jobs_max - rows.length, next), patterns, read_jobs, bytes_left];
    const found = await executeOn(deps.database)<Row>({ text: statement, params }).catch((error: unknown) => {
      // Small jobs were followed by large ones: the next search begins with few of them.
      if (error instanceof DatabaseTimeoutError && next !== below) return undefined;
      throw error;
    });
    if (!found) break;
    rows.push(...found.filter(({ id }) => (id as string | null) !== null).map(pageRow));
    jobs += found[0]?.read ?? 0;
    const last = found[0]?.last ?? undefined;
    bytes_left -= found[0]?.bytes ?? 0;
    cut = rows.length === jobs_max || found[0]?.cut === true || (last !== undefined && bytes_left <= 0);
    next = cut ? rows.at(-1)?.id : last;
    const took_ms = performance.now() - started;
    read_jobs = Math.max(
      read_jobs_min,
      Math.min(read_jobs_max, took_ms < statement_ms ? read_jobs * 2 : read_jobs / 2),
    );
    read_jobs = Math.floor(read_jobs);
  } while (next !== undefined && !cut && performance.now() < end);
  return { rows, jobs, next: next && (cut ? next : withoutChance(next)) };
}

type Row = ReadRow & { last: string | null; read: number; bytes: number; cut: boolean };

/** The text as it is, and as JSON writes it, if that differs: quotes, backslashes and line ends are escaped there. */
function patternsOf(text: string): string[] {
  const texts = new Set([text, JSON.stringify(text).slice(1, -1)]);
  return [...texts].map((one) => `%${one.replaceAll(/[\\%_]/g, "\\$&")}%`);
}

// As in the list, the cheap conditions come first, in a bounded stretch, and the look ends with the jobs to be read; only
// those are read whole. One row with only `last` and `read` comes when none has the text.
const statement = composed(
  "jobs/search",
  [...listParameters, "patterns", "read_jobs", "bytes_max"],
  `
  WITH RECURSIVE candidates AS MATERIALIZED (
    SELECT id FROM (
      SELECT id, ${matches} AS found FROM atlasqueue.jobs
      WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT ${stretch_jobs_max}) AS stretch
    WHERE found LIMIT $12::int
  ), page AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM candidates)) AND (
      payload::text ILIKE ANY ($11::text[]) OR last_error ILIKE ANY ($11::text[]) OR result::text ILIKE ANY ($11::text[]))
    ORDER BY id DESC LIMIT $7::int
  ), ${fitting(weighedJobs, "$13::int")}
  SELECT jobs.*, ends.last, ends.read, ends.bytes, ends.cut FROM (
    SELECT CASE WHEN count(*) = $12::int THEN min(id::text) ELSE (
             SELECT id::text FROM atlasqueue.jobs WHERE id < $1::uuid AND id > $9::text::uuid
             ORDER BY jobs.id DESC OFFSET ${stretch_jobs_max - 1} LIMIT 1) END AS last,
           count(*)::int AS read,
           (SELECT coalesce(max(bytes), 0)::float8 FROM fitting) AS bytes, ${isCut} AS cut
    FROM candidates
  ) AS ends LEFT JOIN (SELECT ${pageColumns} FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting))) AS jobs ON true
  ORDER BY jobs.id DESC`,
);
