import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";

/** `last` is the id that was looked at last, undefined when there was none; `more` when there may be others behind it. */
export type Cleared = { jobs: number; last: string | undefined; more: boolean };

/**
 * succeeded → succeeded, without its result, when it finished longer than `ttl_seconds` ago. A step looks at `jobs_max`
 * jobs in the order of their ids, those with ids between `after` and `before`. A job without a result is not written, so
 * none is written twice.
 *
 * @example
 * const { last } = await clearResults(deps, 3_600, firstId, firstIdAt(an_hour_ago), 500);
 */
export async function clearResults(
  deps: Deps,
  ttl_seconds: number,
  after: string,
  before: string,
  jobs_max: number,
): Promise<Cleared> {
  type Step = { looked_at: number; last: string | null; jobs: number };
  const params = [after, before, jobs_max, ttl_seconds];
  const [step] = await executeOn(deps.database)<Step>({ text, params });
  return { jobs: step?.jobs ?? 0, last: step?.last ?? undefined, more: step?.looked_at === jobs_max };
}

// No index may help here (decisions/2026-11-20-storage.md): a walk along the primary key. Of all tenants. What somebody's
// transaction holds is passed over until the next full pass.
const text = composed(
  "maintenance/clear-results",
  ["after", "before", "jobs_max", "ttl_seconds"],
  `
  WITH old AS MATERIALIZED (
    SELECT id FROM jobs WHERE id > $1::text::uuid AND id < $2::text::uuid ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND status = 'succeeded' AND result IS NOT NULL
      AND finished_at < now() - make_interval(secs => $4::float8)
    FOR NO KEY UPDATE SKIP LOCKED
  ), cleared AS (
    UPDATE jobs SET result = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM free)) AND status = 'succeeded' AND ${unsynced}
    RETURNING jobs.id
  )
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM cleared) AS jobs`,
);
