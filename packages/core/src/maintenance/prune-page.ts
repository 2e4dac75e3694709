import { composed } from "../database/composed.ts";
import { impatient } from "../database/skip-locked.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { endedFlows } from "../flows/keeping/ended-flows.ts";
import { removeJobs, removeOf } from "../jobs/remove.ts";
import type { JobRetention } from "./retention.ts";

/** Between which ids, and how many jobs are looked at. */
export type Stretch = { after: string; before: string; jobs_max: number };
type Page = { jobs: number; dead: string[]; next: string | undefined; met_another?: true };
/** `ours`: no other process is taking a step. */
type Step = {
  ours: boolean;
  looked_at: number;
  last: string | null;
  jobs: number;
  dead: string[] | null;
  others?: boolean;
};

/**
 * A step of `prune`: most jobs are nobody's business any more, and a short statement removes them. Only where it has seen
 * others does the long one look at the same stretch.
 */
export async function prunePage(deps: Deps, retention: JobRetention, stretch: Stretch): Promise<Page> {
  const plain = await send(deps, plainStep, retention, stretch);
  if (plain?.ours === false) return { jobs: 0, dead: [], next: stretch.after, met_another: true };
  const next = plain?.looked_at === stretch.jobs_max ? (plain.last ?? undefined) : undefined;
  const others = plain?.others
    ? await send(deps, othersStep, retention, { ...stretch, before: next ?? stretch.before })
    : undefined;
  return {
    jobs: (plain?.jobs ?? 0) + (others?.jobs ?? 0),
    dead: [...(plain?.dead ?? []), ...(others?.dead ?? [])],
    next,
  };
}

async function send(
  deps: Deps,
  text: string,
  { succeededHours, deadHours }: JobRetention,
  { after, before, jobs_max }: Stretch,
): Promise<Step | undefined> {
  const params = [after, before, jobs_max, succeededHours * 3_600, deadHours * 3_600];
  const [step] = await executeOn(deps.database)<Step>({ text, params });
  return step;
}

const parameters = ["after", "before", "jobs_max", "succeeded_seconds", "dead_seconds"];

/**
 * How long after the end of a unique key's time its job stays: a request may have seen it in time, be answered with it,
 * and note its idempotency key for it only now. Longer than a look and a statement can take.
 */
const answering_seconds_max = 60;
const answering = `now() - make_interval(secs => ${answering_seconds_max})`;

/** For the advisory lock that keeps several processes' steps apart: any number no one else uses. */
const pruning = 4_715_308_921;
const turn = `turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(${pruning}) AS ours
  )`;

const isOver = `((status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => $4::float8))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => $5::float8)))
      AND (kept_until IS NULL OR kept_until <= now())
      AND (unique_key IS NULL OR coalesce(unique_until, finished_at) <= ${answering})`;
const isPlain = "flow_id IS NULL AND has_children IS NULL AND has_steps IS NULL";

const answer = `(SELECT ours FROM turn) AS ours, (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead`;

// Rows are read once, where the walk finds them, and then by their place.
const plainStep = composed(
  "maintenance/prune-plain",
  parameters,
  `
  WITH ${turn}, old AS MATERIALIZED (
    SELECT id, ctid AS lies_at, ${isOver} AS over, ${isPlain} AS plain
    FROM atlasqueue.jobs WHERE (SELECT ours FROM turn) AND id > $1::text::uuid AND id < $2::text::uuid
    ORDER BY id LIMIT $3::int
  ), named AS MATERIALIZED (
    SELECT job_id AS id FROM atlasqueue.idempotency_keys WHERE job_id = ANY(ARRAY(SELECT id FROM old)) AND is_alias AND expires_at > now()
    UNION ALL SELECT job_id FROM atlasqueue.flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM old))
    UNION ALL SELECT child FROM atlasqueue.flow_edges WHERE child = ANY(ARRAY(SELECT id FROM old))
  ), alone AS MATERIALIZED (
    SELECT id, lies_at FROM old WHERE over AND plain AND id NOT IN (SELECT id FROM named)
  ), free AS MATERIALIZED (
    SELECT id, ctid AS lies_at FROM atlasqueue.jobs WHERE ctid = ANY(ARRAY(SELECT lies_at FROM alone)) AND ${isOver} AND ${isPlain} AND ${impatient}
    FOR UPDATE SKIP LOCKED
  ), ${removeOf("job_attempts", "job_id", "free")}, gone AS (
    DELETE FROM atlasqueue.jobs WHERE ctid = ANY(ARRAY(SELECT lies_at FROM free))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), ${countMixedMoves("gone")}
  SELECT ${answer}, EXISTS (SELECT FROM old WHERE over AND id NOT IN (SELECT id FROM alone)) AS others`,
);

const othersStep = composed(
  "maintenance/prune",
  parameters,
  `
  WITH ${turn}, old AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE (SELECT ours FROM turn) AND id > $1::text::uuid AND id <= $2::text::uuid
    ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND ${isOver}
      AND NOT EXISTS (SELECT FROM atlasqueue.idempotency_keys AS known WHERE known.job_id = jobs.id AND is_alias AND expires_at > now())
    FOR UPDATE SKIP LOCKED
  ), ${endedFlows("free")}, ${removeJobs("ended")}
  SELECT ${answer}`,
);
