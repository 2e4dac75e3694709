import { countJobs } from "../counts/total.ts";
import { composed } from "../database/composed.ts";
import { isUuid, unindexed, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { readyJobs } from "../queues/ready.ts";
import { groupMayStart } from "./room.ts";
import { near_jobs_max } from "./within-rates.ts";
import type { QueueSignals, ReadyJob, Signal } from "../signal/signal.ts";

/** How many of a list's next ids are asked about at least: as many may be on their way to a claim as there are places. */
const listed_min = 100;
/** A list that is longer, and twice as long as what waits, is made anew, if that has no more. */
const list_max = 10_000;

/**
 * Of a queue's next jobs, in order, those that its list lacks, as `look` saw it: offered again and again, it would grow by
 * all of them while no worker takes any. It is in order, so what comes before its next one is missing. That one may be none
 * of these jobs, but one of a later page, or one that may not start any more, as it was signalled again just before whoever
 * had taken it claimed it. So what counts is the first in it that may start, and what is in front of that is dropped.
 * Prioritised ones are kept once each, and need no such care.
 *
 * @example
 * await announce(deps, await notSignalled(deps, queue, jobs, await signal.look(queue)), "front");
 */
export async function notSignalled(
  deps: Pick<Deps, "database"> & { signal: Signal },
  queue: QueueRef,
  jobs: readonly ReadyJob[],
  { length, next }: QueueSignals,
): Promise<ReadyJob[]> {
  const plain = jobs.flatMap(({ id, priority }) => (priority === 0 ? [id] : []));
  if (length < jobs.length || plain.length === 0) return [...jobs];
  const place = plain.indexOf(next ?? "");
  if (place === -1 && length > list_max) {
    // What runs by its second place leaves the first one behind, where those in front of it keep it from being reached.
    const { queued } = await countJobs(deps, queue.tenant, queue);
    if (length > 2 * queued && queued <= list_max) return madeAnew(deps, queue);
  }
  const missing = place === -1 ? await missingOf(deps, queue, plain, next) : new Set(plain.slice(0, place));
  return jobs.filter(({ id, priority }) => priority !== 0 || missing.has(id));
}

/** All that wait, in their order, for an empty list. */
async function madeAnew(deps: Pick<Deps, "database"> & { signal: Signal }, queue: QueueRef): Promise<ReadyJob[]> {
  const all = await readyJobs(deps, queue, 0, list_max);
  await deps.signal.setTurns(queue, false);
  return all;
}

async function missingOf(
  { database, signal }: Pick<Deps, "database"> & { signal: Signal },
  queue: QueueRef,
  ids: readonly string[],
  next: string | undefined,
): Promise<ReadonlySet<string>> {
  const listed = (await signal.peek(queue, Math.min(ids.length, near_jobs_max) + listed_min)).filter(isUuid);
  const params = [queue.tenant, queue.queue, uuidArray(listed), uuidArray(ids)];
  const [found] = await executeOn(database)<{ first: string; before: string[] }>({ text, params });
  const front = found?.first ?? listed.at(-1);
  if (front !== undefined && front !== next) await signal.skipTo(queue, front);
  return new Set(found?.before ?? ids);
}

// By the same order as the looks that found them.
const text = composed(
  "limits/before-listed",
  ["tenant", "queue", "listed", "ids"],
  `
  WITH first AS MATERIALIZED (
    SELECT ready.* FROM atlasqueue.queues, unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place), LATERAL (
      SELECT id, priority, ready_at, group_key FROM atlasqueue.jobs
      WHERE jobs.id = listed.id AND jobs.tenant = $1 AND jobs.queue = $2 AND ${unindexed("ready_at")} IS NOT NULL OFFSET 0) AS ready
    WHERE queues.tenant = $1 AND queues.queue = $2 AND ${groupMayStart("queues", "ready")}
    ORDER BY place LIMIT 1
  )
  SELECT id AS first, (
    SELECT coalesce(json_agg(jobs.id), '[]') FROM unnest($4::uuid[]) AS wanted(id) JOIN atlasqueue.jobs USING (id)
    WHERE ${unindexed("jobs.ready_at")} IS NOT NULL
      AND (-jobs.priority, jobs.ready_at, jobs.id) < (-first.priority, first.ready_at, first.id)) AS before
  FROM first`,
);
