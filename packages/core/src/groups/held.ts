import type { HeldGroup } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/** Jobs of a group that are counted. */
const blocked_max = 1_000;

/**
 * The groups of a queue in which a job has its turn, in the order of their names after one: by which job, and how many
 * wait behind it; not those that have no place yet.
 *
 * @example
 * const groups = await heldGroups(deps, { tenant: "default", queue: "mails" }, "", 50);
 */
export async function heldGroups(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  after: string,
  groups_max: number,
): Promise<HeldGroup[]> {
  type Row = Omit<HeldGroup, "held_by" | "blocked_complete"> & HeldGroup["held_by"] & { since: Date };
  const rows = await executeOn(deps.database)<Row>({ text, params: [tenant, queue, after, groups_max] });
  return rows.map(({ group, blocked, since, ...job }) => ({
    group,
    held_by: { ...job, since: since.toISOString() },
    blocked: Math.min(blocked, blocked_max),
    blocked_complete: blocked <= blocked_max,
  }));
}

const text = composed(
  "groups/held",
  ["tenant", "queue", "after", "groups_max"],
  `
  WITH held AS MATERIALIZED (
    SELECT active_group_key AS group, id, type, status, worker_id, updated_at AS since FROM atlasqueue.jobs
    WHERE tenant = $1 AND queue = $2 AND active_group_key IS NOT NULL AND active_group_key > $3
    ORDER BY active_group_key LIMIT $4::int
  )
  SELECT held.*, (
    SELECT count(*)::int FROM (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND queue = $2 AND group_key = held.group AND group_seq > 0
      ORDER BY group_seq LIMIT ${blocked_max + 1}) AS waiting) AS blocked
  FROM held ORDER BY held.group`,
);
