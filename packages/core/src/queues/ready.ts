import { bounded } from "../database/bounded.ts";
import { isUuid } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { groupMayStart, passed_over_max } from "../limits/room.ts";

/** Ready jobs of a queue in the order they should run. `age_ms_min` leaves out those whose signal may be on its way. */
export async function readyJobs(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  age_ms_min: number,
  jobs_max: number,
): Promise<ReadyJob[]> {
  const { sql } = deps.database;
  return bounded(
    deps.database,
    sql<ReadyJob[]>`
    SELECT id, tenant, queue, priority FROM jobs
    WHERE ready_at IS NOT NULL AND tenant = ${tenant} AND queue = ${queue}
      AND updated_at <= now() - make_interval(secs => ${age_ms_min / 1_000}::float8)
    ORDER BY priority DESC, ready_at, id LIMIT ${jobs_max}`,
  );
}

/** Ready jobs of a queue with limits in the order they should run, past those whose groups have used up their rate. */
export async function readyWithinRates(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  jobs_max: number,
): Promise<ReadyJob[]> {
  const text = `
    SELECT front.id, front.tenant, front.queue, front.priority FROM queues, LATERAL (
      SELECT * FROM jobs WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
      ORDER BY priority DESC, ready_at, id LIMIT ${passed_over_max}) AS front
    WHERE queues.tenant = $1 AND queues.queue = $2 AND ${groupMayStart("queues", "front")}
    ORDER BY front.priority DESC, front.ready_at, front.id LIMIT $3::int`;
  return [...(await executeOn(deps.database)<ReadyJob>({ text, params: [tenant, queue, jobs_max] }))];
}

/** Ready jobs of ordinary priority that have waited longer, by `gap_ms_min`, than the one a list would hand out next. */
export async function readyBefore(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  next_id: string,
  gap_ms_min: number,
  jobs_max: number,
): Promise<ReadyJob[]> {
  if (!isUuid(next_id)) return [];
  const { sql } = deps.database;
  return bounded(
    deps.database,
    sql<ReadyJob[]>`
    SELECT id, tenant, queue, priority FROM jobs
    WHERE ready_at IS NOT NULL AND tenant = ${tenant} AND queue = ${queue} AND priority = 0
      AND ready_at < (SELECT ready_at FROM jobs WHERE id = ${next_id}) - make_interval(secs => ${gap_ms_min / 1_000}::float8)
    ORDER BY ready_at, id LIMIT ${jobs_max}`,
  );
}

/** Ready jobs of other priorities, the ones that run first at the front. Two ranges, so a backlog between them is not read. */
export async function readyWithPriority(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  age_ms_min: number,
  jobs_max: number,
): Promise<ReadyJob[]> {
  const { sql } = deps.database;
  const ready = sql`ready_at IS NOT NULL AND tenant = ${tenant} AND queue = ${queue}
      AND updated_at <= now() - make_interval(secs => ${age_ms_min / 1_000}::float8)`;
  return bounded(
    deps.database,
    sql<ReadyJob[]>`
    (SELECT id, tenant, queue, priority FROM jobs WHERE ${ready} AND priority > 0 ORDER BY priority DESC, ready_at, id LIMIT ${jobs_max})
    UNION ALL
    (SELECT id, tenant, queue, priority FROM jobs WHERE ${ready} AND priority < 0 ORDER BY priority DESC, ready_at, id LIMIT ${jobs_max})`,
  );
}
