import { composed } from "../database/composed.ts";
import { isUuid } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";

/**
 * `age_ms_min` leaves out jobs whose signal may be on its way. With `next_id`, the next id of their list, only those that the list lacks: of ordinary priority, the ones that became ready
 * more than `age_ms_min` before that job, and the ones of other priorities. At most `jobs_max` of each, those that run
 * first in front.
 */
export type Which = {
  age_ms_min?: number;
  jobs_max: number;
  next_id?: string | undefined;
};

/** Ready jobs of a queue in the order they should run. */
export function readyJobs(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  { age_ms_min = 0, jobs_max, next_id }: Which,
): Promise<readonly ReadyJob[]> {
  const before = next_id === undefined ? "all" : isUuid(next_id) ? next_id : "";
  const params = [tenant, queue, age_ms_min / 1_000, jobs_max, before];
  return executeOn(deps.database)<ReadyJob>({ text, params });
}

/** Or much younger: then the clock was set back, and waiting until it is where it was would not be for a signal. */
const olderThan = `ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8`;

const lane = (condition: string) => `
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ${olderThan} AND ${condition}
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)`;

/** Of ordinary priority: all, or those well before the job that would be next. */
const ordinary = `ready_at < CASE WHEN $5 = 'all' THEN 'infinity' ELSE (
      SELECT ready_at FROM atlasqueue.jobs WHERE id = nullif(nullif($5, 'all'), '')::uuid) - make_interval(secs => $3::float8) END`;

// Three ranges, one after the other, so that without the middle one no backlog is read.
const text = composed(
  "queues/ready",
  ["tenant", "queue", "age_seconds_min", "jobs_max", "before"],
  `
  SELECT * FROM (${lane("priority > 0")}
    UNION ALL${lane(`priority = 0 AND ${ordinary}`)}
    UNION ALL${lane("priority < 0")}) AS lanes LIMIT CASE WHEN $5 = 'all' THEN 1 ELSE 3 END * $4::int`,
);
