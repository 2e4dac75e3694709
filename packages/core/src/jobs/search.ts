import type { Deps } from "../deps.ts";
import type { PageRow } from "./page-row.ts";
import { listJobs, type JobFilter } from "./list.ts";

/** What a search found, and how far it looked: `jobs` is how many it read, `next` where it goes on. */
export type Searched = { rows: PageRow[]; jobs: number; next: string | undefined };

/** A search ends after this, wherever it has come to. */
const search_ms_max = 400;

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
  const options = { patterns: patternsOf(text), ms_max };
  const { rows, next, read = 0 } = await listJobs(deps, tenant, filter, jobs_max, below, options);
  return { rows, jobs: read, next };
}

/** The text as it is, and as JSON writes it, if that differs: quotes, backslashes and line ends are escaped there. */
function patternsOf(text: string): string[] {
  const texts = new Set([text, JSON.stringify(text).slice(1, -1)]);
  return [...texts].map((one) => `%${one.replaceAll(/[\\%_]/g, "\\$&")}%`);
}
