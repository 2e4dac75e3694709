import { composed } from "../database/composed.ts";
import { isUuid } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";

/**
 * For a look at the jobs that became ready within the last so many seconds (`Infinity`: at all). It is compared within the
 * index: entries beyond it, of jobs claimed long ago that an old snapshot keeps there, are not looked up in the table.
 */
const within = (seconds: string) => `ready_at >= CASE WHEN ${seconds}::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => ${seconds}::float8) END`;

/**
 * `age_ms_min` leaves out jobs whose signal may be on its way, and `reach_ms` those that became ready before that. With
 * `next_id`, the next id of their list, only those that the list lacks: of ordinary priority, the ones that became ready
 * more than `age_ms_min` before that job, and the ones of other priorities. At most `jobs_max` of each, those that run
 * first in front.
 */
export type Which = {
  age_ms_min?: number;
  jobs_max: number;
  reach_ms?: number | undefined;
  next_id?: string | undefined;
};

/** Ready jobs of a queue in the order they should run. */
export function readyJobs(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  { age_ms_min = 0, jobs_max, reach_ms = Infinity, next_id }: Which,
): Promise<readonly ReadyJob[]> {
  const before = next_id === undefined ? "all" : isUuid(next_id) ? next_id : "";
  const params = [tenant, queue, age_ms_min / 1_000, jobs_max, reach_ms / 1_000, before];
  return executeOn(deps.database)<ReadyJob>({ text, params });
}

/** Or much younger: then the clock was set back, and waiting until it is where it was would not be for a signal. */
const olderThan = `ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8`;

const lane = (condition: string) => `
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ${olderThan} AND ${within("$5")} AND ${condition}
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)`;

/** Of ordinary priority: all, or those well before the job that would be next. */
const ordinary = `ready_at < CASE WHEN $6 = 'all' THEN 'infinity' ELSE (
      SELECT ready_at FROM atlasqueue.jobs WHERE id = nullif(nullif($6, 'all'), '')::uuid) - make_interval(secs => $3::float8) END`;

// Three ranges, one after the other, so that without the middle one no backlog is read.
const text = composed(
  "queues/ready",
  ["tenant", "queue", "age_seconds_min", "jobs_max", "reach_seconds", "before"],
  `
  SELECT * FROM (${lane("priority > 0")}
    UNION ALL${lane(`priority = 0 AND ${ordinary}`)}
    UNION ALL${lane("priority < 0")}) AS lanes LIMIT CASE WHEN $6 = 'all' THEN 1 ELSE 3 END * $4::int`,
);
