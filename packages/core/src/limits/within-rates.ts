import { composed } from "../database/composed.ts";
import { textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { placeColumns, readyAfterPlace, type Place } from "../queues/places.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { groupMayStart } from "./room.ts";

/**
 * Ready jobs looked at to find some whose groups may start, the front of the queue: 30 ms, rather than reading a whole
 * backlog of others.
 */
export const front_jobs_max = 5_000;

/** As many as are signalled at once. */
export const near_jobs_max = 500;

/** Of ready `jobs` of the queue $2 of tenant $1 those that may start by its group rate: of each group as many as it has starts left. */
const withinRate = (jobs: string) => `
    SELECT numbered.* FROM atlasqueue.queues, (
      SELECT *, row_number() OVER (PARTITION BY group_key ORDER BY priority DESC, ready_at, id) AS number FROM ${jobs}) AS numbered
    WHERE queues.tenant = $1 AND queues.queue = $2 AND ${groupMayStart("queues", "numbered", "number")}`;

/** A queue with limits; `by_group`: it has a group rate. */
type Limited = QueueRef & { by_group: boolean };

/**
 * The first ready jobs of a queue with limits in the order they should run, of each group no more than it has starts left.
 * Mostly these are enough: counting those of each group in all of the front takes ten times as long. `stocked` ids count
 * with them, in their places. `more`: without these there are fewer than were asked for, but others behind the first 500.
 */
export async function readyNear(
  deps: Pick<Deps, "database">,
  { tenant, queue, by_group }: Limited,
  jobs_max: number,
  stocked: readonly string[] = [],
): Promise<{ jobs: ReadyJob[]; more: boolean }> {
  const execute = executeOn(deps.database);
  const params = [tenant, queue, jobs_max];
  if (!by_group) return { jobs: [...(await execute<ReadyJob>({ text: first, params }))], more: false };
  const near = { text: nearWithinRate, params };
  const orStocked = { text: nearOrStocked, params: [...params, uuidArray(stocked)] };
  const jobs = [...(await execute<ReadyJob>(stocked.length > 0 ? orStocked : near))];
  const known = new Set(stocked);
  const unknown = jobs.filter(({ id }) => !known.has(id)).length;
  const more = unknown < jobs_max && (await execute({ text: beyond, params: [tenant, queue] })).length > 0;
  return { jobs, more };
}

/** The same, in all of the front of a queue with a group rate. */
export async function readyInFront(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  jobs_max: number,
): Promise<ReadyJob[]> {
  const params = [tenant, queue, jobs_max];
  return [...(await executeOn(deps.database)<ReadyJob>({ text: frontWithinRate, params }))];
}

const frontColumns = "id, tenant, queue, priority, ready_at, group_key";
// Whatever is outside of them, the planner knows by these bounds how little there is to do.
const front = (rows_max: number) => `
    SELECT ${frontColumns} FROM atlasqueue.jobs
    WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
    ORDER BY priority DESC, ready_at, id LIMIT ${rows_max}`;
// The first of these ids that may start: only as many are read.
const ofStock = `
    SELECT ready.* FROM atlasqueue.queues, unnest($4::uuid[]) AS stocked(id), LATERAL (
      SELECT ${frontColumns} FROM atlasqueue.jobs
      WHERE jobs.id = stocked.id AND jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' OFFSET 0) AS ready
    WHERE queues.tenant = $1 AND queues.queue = $2 AND ${groupMayStart("queues", "ready")} LIMIT $3::int`;
const textOf = (name: string, with_front: string, rows: string, ...last: string[]) =>
  composed(
    `limits/${name}`,
    ["tenant", "queue", "jobs_max", ...last],
    `
  ${with_front}SELECT id, tenant, queue, priority FROM (${rows}) AS starting
  ORDER BY priority DESC, ready_at, id LIMIT $3::int`,
  );
const ratedTextOf = (name: string, rows: string, ...last: string[]) =>
  textOf(name, `WITH front AS MATERIALIZED (${rows}\n  )\n  `, withinRate("front"), ...last);
const first = textOf("ready-front", "", front(front_jobs_max));
const nearWithinRate = ratedTextOf("ready-near-within-rates", front(near_jobs_max));
const nearOrStocked = ratedTextOf("ready-near-or-stocked", `(${front(near_jobs_max)}) UNION (${ofStock})`, "ids");
const beyond = composed(
  "limits/ready-beyond",
  ["tenant", "queue"],
  `
  SELECT true AS more FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
  ORDER BY priority DESC, ready_at, id LIMIT 1 OFFSET ${near_jobs_max}`,
);
const frontWithinRate = ratedTextOf("ready-within-rates", front(front_jobs_max));

/** How far the looks behind each queue's front have come. */
export type Behind = Map<string, Progress>;

/**
 * `next`: behind it is the next page; without it, the first one. `rich`: so is one that had more than there was room for.
 * `returns`: the next look is at that one.
 */
type Progress = { next: Place | undefined; rich: Place | undefined; returns: boolean };

/** Of queues, for what is remembered of them. */
export const places_max = 10_000;
/** Whose backlogs are looked at together. */
const queues_max = 4;

/**
 * Jobs behind the front of queues, like `readyInFront`, where thousands in front have used up their rates and have
 * no start left: the next ones after those of the last look, and after the end the first ones again. After a page with more than
 * `passed_max` of them too, as others in front of them may start meanwhile; every second look is at that page again, whose
 * jobs found no room. None of queues that have no more jobs than a front has.
 *
 * @example
 * const jobs = await readyBehind(deps, { tenant: "default", queues: ["mail"] }, 10, behind);
 */
export async function readyBehind(
  deps: Pick<Deps, "database">,
  { tenant, queues }: { tenant: string; queues: readonly string[] },
  jobs_max: number,
  behind: Behind = new Map(),
  passed_max = jobs_max,
): Promise<ReadyJob[]> {
  const execute = executeOn(deps.database);
  const fronts = await execute<Place & { queue: string }>({ text: ends, params: [tenant, textArray(queues)] });
  const found: ReadyJob[] = [];
  for (const { queue, ...end } of fronts) {
    const left = jobs_max - found.length;
    if (left === 0) break;
    const name = `${tenant} ${queue}`;
    const { next, rich, returns } = behind.get(name) ?? { next: undefined, rich: undefined, returns: false };
    const after = (returns ? rich : next) ?? end;
    const { id, priority, ready } = after;
    type Row = Place & { may_start: boolean };
    const rows = await execute<Row>({ text: behindPlace, params: [tenant, queue, priority, ready, id, left] });
    const starting = rows.filter(({ may_start }) => may_start);
    for (const job of starting) found.push({ tenant, queue, id: job.id, priority: job.priority });
    const is_rich = starting.length > passed_max;
    // As many as were asked for, or a whole page with fewer. Any other page is the last one.
    const last = starting.length === left ? starting.at(-1) : rows.find(({ may_start }) => !may_start);
    const progress = returns
      ? { next, rich: is_rich ? after : undefined, returns: false }
      : { next: is_rich ? undefined : last, rich: is_rich ? after : rich, returns: rich !== undefined && !is_rich };
    behind.delete(name);
    if (behind.size > places_max) behind.clear();
    if (progress.next || progress.rich) behind.set(name, progress);
  }
  return found;
}

const ends = composed(
  "limits/ends-of-fronts",
  ["tenant", "queues"],
  `
  SELECT place.* FROM unnest($2::text[]) AS wanted(queue), LATERAL (
    SELECT queue, ${placeColumns} FROM atlasqueue.jobs
    WHERE ready_at IS NOT NULL AND tenant = $1 AND jobs.queue = wanted.queue
    ORDER BY priority DESC, ready_at, id LIMIT 1 OFFSET ${front_jobs_max - 1}) AS place
  ORDER BY random() LIMIT ${queues_max}`,
);

// With the last one of the page, unless there is no further one.
const behindPlace = composed(
  "limits/ready-behind",
  ["tenant", "queue", "priority", "ready", "id", "jobs_max"],
  `
  WITH page AS MATERIALIZED (${readyAfterPlace(`${placeColumns}, ready_at, group_key`, front_jobs_max)}
  ), starting AS MATERIALIZED (
    ${withinRate("page")}
    ORDER BY priority DESC, ready_at, id LIMIT $6::int
  )
  SELECT id, priority, ready, true AS may_start, ready_at FROM starting
  UNION ALL
  SELECT * FROM (
    SELECT id, priority, ready, false, ready_at FROM page
    WHERE (SELECT count(*) FROM starting) < $6::int AND (SELECT count(*) FROM page) = ${front_jobs_max}
    ORDER BY priority, ready_at DESC, id DESC LIMIT 1) AS last
  ORDER BY priority DESC, ready_at, id`,
);
