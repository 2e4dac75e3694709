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
 * Ready jobs of a queue in the order they should run. `age_ms_min` leaves out those whose signal may be on its way.
 */
export function readyJobs(
  deps: Pick<Deps, "database">,
  queue: QueueRef,
  age_ms_min: number,
  jobs_max: number,
  reach_ms = Infinity,
): Promise<ReadyJob[]> {
  return ready(deps, queue, { age_ms_min, jobs_max, reach_ms, with_ordinary: true });
}

type Which = { age_ms_min: number; jobs_max: number; reach_ms: number; with_ordinary: boolean };

async function ready(deps: Pick<Deps, "database">, { tenant, queue }: QueueRef, which: Which): Promise<ReadyJob[]> {
  const { age_ms_min, jobs_max, reach_ms, with_ordinary } = which;
  const params = [tenant, queue, age_ms_min / 1_000, jobs_max, reach_ms / 1_000, String(with_ordinary)];
  return [...(await executeOn(deps.database)<ReadyJob>({ text, params }))];
}

const columns = "id, tenant, queue, priority";
/** Or much younger: then the clock was set back, and waiting until it is where it was would not be for a signal. */
const olderThan = `ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8`;

const lane = (condition: string) => `
    (SELECT ${columns} FROM atlasqueue.jobs WHERE ${olderThan} AND ${within("$5")} AND ${condition}
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)`;

// Three ranges, one after the other, so that without the middle one no backlog is read.
const text = composed(
  "queues/ready",
  ["tenant", "queue", "age_seconds_min", "jobs_max", "reach_seconds", "with_ordinary"],
  `
  SELECT * FROM (${lane("priority > 0")}
    UNION ALL${lane("priority = 0 AND $6::text::bool")}
    UNION ALL${lane("priority < 0")}) AS lanes LIMIT $4::int`,
);

/**
 * Ready jobs of ordinary priority that have waited at least `gap_ms_min` longer than the one a list would hand out
 * next.
 */
export async function readyBefore(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  next_id: string,
  gap_ms_min: number,
  jobs_max: number,
  reach_ms = Infinity,
): Promise<ReadyJob[]> {
  if (!isUuid(next_id)) return [];
  const params = [tenant, queue, next_id, gap_ms_min / 1_000, jobs_max, reach_ms / 1_000];
  return [...(await executeOn(deps.database)<ReadyJob>({ text: before, params }))];
}

const before = composed(
  "queues/ready-before",
  ["tenant", "queue", "next_id", "gap_seconds_min", "jobs_max", "reach_seconds"],
  `
  SELECT ${columns} FROM atlasqueue.jobs
  WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority = 0 AND ${within("$6")}
    AND ready_at < (SELECT ready_at FROM atlasqueue.jobs WHERE id = $3::uuid) - make_interval(secs => $4::float8)
  ORDER BY ready_at, id LIMIT $5::int`,
);

/** Ready jobs of other priorities, the ones that run first in front. */
export function readyWithPriority(
  deps: Pick<Deps, "database">,
  queue: QueueRef,
  age_ms_min: number,
  jobs_max: number,
  reach_ms = Infinity,
): Promise<ReadyJob[]> {
  return ready(deps, queue, { age_ms_min, jobs_max, reach_ms, with_ordinary: false });
}
