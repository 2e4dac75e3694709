import type { DeadGroup } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { errorPattern } from "./fingerprint.ts";

/** Where a group stands in their order. */
export type GroupPlace = { type: string; fingerprint: string };
export type DeadGroups = { groups: DeadGroup[]; next: GroupPlace | undefined };

/** Dead letters one page counts, from their index alone: 50 ms. Its groups share them. */
const counted_jobs_max = 50_000;
const hours = 24;

/**
 * A tenant's dead letters by type and error, in this order. The groups themselves are found without reading their jobs.
 * Those that do not fit into their share of the 50,000 a page counts are counted from the newest on, only so far
 * (`count_complete` is false).
 *
 * @example
 * const { groups, next } = await listDeadGroups(deps, "default", { type: "mail.send" }, 50);
 */
export async function listDeadGroups(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: { type?: string | undefined },
  groups_max: number,
  after: GroupPlace = { type: "", fingerprint: "" },
  jobs_max = counted_jobs_max,
): Promise<DeadGroups> {
  const { type } = filter;
  const from = type === undefined || after.type === type ? after : { type, fingerprint: "" };
  const params = [tenant, from.type, from.fingerprint, groups_max + 1, jobs_max, type ?? ""];
  const rows = await executeOn(deps.database)<Row>({ text, params });
  const kept = rows.slice(0, groups_max);
  const last = rows.length > groups_max ? kept.at(-1) : undefined;
  return { groups: kept.map(show), next: last && { type: last.type, fingerprint: last.fingerprint } };
}

type Row = GroupPlace & {
  count: number;
  count_complete: boolean;
  first_seen: Date;
  last_seen: Date;
  sample_job_id: string;
  last_error: string | null;
  /** How many died so many hours ago. */
  ago: Record<string, number> | null;
};

function show({ last_error, first_seen, last_seen, ago, ...group }: Row): DeadGroup {
  return {
    ...group,
    error: errorPattern(last_error ?? ""),
    first_seen: first_seen.toISOString(),
    last_seen: last_seen.toISOString(),
    per_hour: Array.from({ length: hours }, (_, at) => ago?.[hours - 1 - at] ?? 0),
  };
}

const dead = "tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL";
const inGroup = `${dead} AND jobs.type = found.type AND jobs.error_fingerprint = found.error_fingerprint`;
const newestFirst = "ORDER BY dead_at DESC, id DESC";
const nextGroup = (after: string) => `
      SELECT type, error_fingerprint FROM atlasqueue.jobs WHERE ${dead} AND ${after}
      ORDER BY type, error_fingerprint, dead_at, id LIMIT 1`;

// Each LIMIT and OFFSET is a bound on what is read of the index, whatever else is dead. From group to group it takes one
// probe. A first look tells which groups are larger than an equal share of what may be counted; the large ones share it
// anew, so that a small number of them among many small ones is still counted far. Newest first, or the hours of a large
// group would be missing. Everything but the error of the newest is in the index.
const text = composed(
  "dead-letters/groups",
  ["tenant", "after_type", "after_fingerprint", "groups_max", "jobs_max", "type"],
  `
  WITH RECURSIVE found AS (
    SELECT type, error_fingerprint, 1 AS place FROM (${nextGroup("(type, error_fingerprint) > ($2, $3)")}
    ) AS first_group WHERE $6 IN ('', type)
    UNION ALL
    SELECT following.type, following.error_fingerprint, found.place + 1
    FROM found CROSS JOIN LATERAL (${nextGroup("(jobs.type, jobs.error_fingerprint) > (found.type, found.error_fingerprint)")}
    ) AS following
    WHERE found.place < $4::int AND $6 IN ('', following.type)
  ), sized AS MATERIALIZED (
    SELECT type, error_fingerprint, EXISTS (
      SELECT FROM atlasqueue.jobs WHERE ${inGroup} ${newestFirst} OFFSET (SELECT $5::int / count(*) FROM found) LIMIT 1
    ) AS large FROM found
  ), shared AS MATERIALIZED (
    SELECT greatest($5::int / greatest(count(*) FILTER (WHERE large), 1), 1) AS jobs_max FROM sized
  )
  SELECT found.type, found.error_fingerprint AS fingerprint, counted.count, counted.ago,
         NOT found.large OR counted.count < shared.jobs_max AS count_complete,
         oldest.dead_at AS first_seen, newest.dead_at AS last_seen, newest.id AS sample_job_id, newest.last_error
  FROM sized AS found CROSS JOIN shared CROSS JOIN LATERAL (
    SELECT sum(count)::int AS count, json_object_agg(ago, count) FILTER (WHERE ago IS NOT NULL) AS ago FROM (
      SELECT ago, count(*) AS count FROM (
        SELECT CASE WHEN dead_at > now() - interval '${hours} hours'
          THEN least(floor(extract(epoch FROM now() - dead_at) / 3600), ${hours - 1})::int END AS ago
        FROM atlasqueue.jobs WHERE ${inGroup} ${newestFirst} LIMIT shared.jobs_max
      ) AS each GROUP BY ago
    ) AS by_hour
  ) AS counted CROSS JOIN LATERAL (
    SELECT dead_at FROM atlasqueue.jobs WHERE ${inGroup} ORDER BY dead_at, id LIMIT 1
  ) AS oldest CROSS JOIN LATERAL (
    SELECT id, dead_at, last_error FROM atlasqueue.jobs WHERE ${inGroup} ${newestFirst} LIMIT 1
  ) AS newest
  ORDER BY found.type, found.error_fingerprint`,
);
