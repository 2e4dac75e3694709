import { composed } from "../database/composed.ts";
import { heldByNobody } from "../database/skip-locked.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { holderOf } from "../groups/join.ts";
import { olderThan } from "../queues/ready.ts";
import type { ReadyInGroup } from "../signal/signal.ts";

/** Of one group in one look. */
const group_jobs_max = 20;

/** Ready jobs of a queue with their groups, the highest priority and the oldest first, but for those that an open transaction holds. */
export async function oldestInGroups(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  age_ms_min: number,
  jobs_max: number,
): Promise<readonly ReadyInGroup[]> {
  const params = [tenant, queue, age_ms_min / 1_000, jobs_max];
  return executeOn(deps.database)<ReadyInGroup>({ text: oldest, params });
}

const oldest = composed(
  "turns/oldest",
  ["tenant", "queue", "age_seconds_min", "jobs_max"],
  `
  SELECT id, tenant, queue, priority, group_key AS "group" FROM atlasqueue.jobs
  WHERE ${olderThan} AND ${heldByNobody} ORDER BY priority DESC, ready_at, id LIMIT $4::int`,
);

/** The first ready jobs of some groups, the same ones left out. `last` is the group to go on after; undefined when there are no more. */
export type GroupPage = { jobs: ReadyInGroup[]; groups: number; last: string | undefined };

/**
 * The first ready jobs of each of the next groups after one, whatever the backlog in front of them: from the groups'
 * own rows, which name the jobs that were let through.
 *
 * @example
 * const { jobs, last } = await readyOfGroups(deps, queue, 0, "", 500);
 */
export async function readyOfGroups(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  age_ms_min: number,
  after: string,
  groups_max: number,
): Promise<GroupPage> {
  type Row = Omit<ReadyInGroup, "id" | "group"> & { id: string | null; group: string };
  const params = [tenant, queue, age_ms_min / 1_000, after, groups_max];
  const rows = await executeOn(deps.database)<Row>({ text: ofGroups, params });
  const jobs = rows.flatMap(({ id, priority, group }) => (id === null ? [] : [{ tenant, queue, id, priority, group }]));
  const groups = new Set(rows.map(({ group }) => group)).size;
  return { jobs, groups, last: groups === groups_max ? rows.at(-1)?.group : undefined };
}

// The jobs are looked up by their ids before anything else is asked of them: by the index of ready jobs, each group would
// read the whole backlog.
const ofGroups = composed(
  "turns/ready-of-groups",
  ["tenant", "queue", "age_seconds_min", "after", "groups_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT tenant, queue, group_key, heads FROM atlasqueue.job_groups
    WHERE tenant = $1 AND queue = $2 AND group_key > $4 ORDER BY group_key LIMIT $5::int
  )
  SELECT one.id, one.priority, page.group_key AS "group" FROM page LEFT JOIN LATERAL (
    SELECT id, priority, ready_at FROM (
      SELECT * FROM atlasqueue.jobs WHERE id = ANY(page.heads || ARRAY(${holderOf("page")})) AND ${heldByNobody} OFFSET 0) AS let_through
    WHERE ${olderThan} ORDER BY priority DESC, ready_at, id LIMIT ${group_jobs_max}) AS one ON true
  ORDER BY page.group_key, one.priority DESC, one.ready_at, one.id`,
);
