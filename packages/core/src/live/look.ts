import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

type Counts = Record<JobStatus, number>;
/** By tenant, as the JSON that events are made of: each text is made once for all listeners. */
export type LiveLook = {
  at: Date;
  /** Counts of whole tenants. */
  totals: ReadonlyMap<string, string>;
  /** A queue's name and counts, by its name, in the order of the names. */
  queues: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Finished jobs, the last one first. */
  finished: ReadonlyMap<string, readonly string[]>;
};

/** What is asked about: whole tenants, queues by name, the first queues of tenants, and jobs that may have finished. */
export type LiveQuestion = {
  tenants: readonly string[];
  named: readonly QueueRef[];
  /** Tenants of which the first `first_queues` by name are followed. */
  browsed: readonly string[];
  first_queues: number;
  ids: readonly string[];
};

/**
 * One statement for everyone who listens. Ids are UUIDs; those that have not finished, or belong to other tenants, are
 * left out.
 */
export async function liveLook(deps: Pick<Deps, "database">, asked: LiveQuestion): Promise<LiveLook> {
  const params = [
    textArray(asked.tenants),
    textArray(asked.named.map(({ tenant }) => tenant)),
    textArray(asked.named.map(({ queue }) => queue)),
    textArray(asked.browsed),
    asked.first_queues,
    uuidArray(asked.ids),
  ];
  const [row] = await executeOn(deps.database)<Row>({ text: look, params });
  if (!row) throw new Error("a look gave no row");
  const finished = new Map<string, string[]>();
  for (const { tenant, ...job } of row.finished ?? []) {
    const jobs = finished.get(tenant) ?? [];
    jobs.push(JSON.stringify(job));
    finished.set(tenant, jobs);
  }
  const totals = new Map((row.totals ?? []).map(({ tenant, ...counts }) => [tenant, JSON.stringify(countsOf(counts))]));
  return { at: row.at, totals, queues: byTenant(row.queues ?? []), finished };
}

function byTenant(rows: readonly (QueueRef & Counts)[]): LiveLook["queues"] {
  const tenants = new Map<string, Map<string, string>>();
  for (const { tenant, queue, ...counts } of rows.toSorted((a, b) => (a.queue < b.queue ? -1 : 1))) {
    const queues = tenants.get(tenant) ?? new Map<string, string>();
    tenants.set(tenant, queues.set(queue, JSON.stringify({ queue, counts: countsOf(counts) })));
  }
  return tenants;
}

/** A fold that was interrupted may leave a count below zero for a moment. */
const countsOf = (row: Counts): Counts =>
  Object.fromEntries(jobStatuses.map((status) => [status, Math.max(0, row[status])])) as Counts;

type Row = {
  at: Date;
  totals: ({ tenant: string } & Counts)[] | null;
  queues: (QueueRef & Counts)[] | null;
  finished: { tenant: string }[] | null;
};

const sums = jobStatuses.map((status) => `coalesce(sum(${status}), 0)::float8 AS ${status}`).join(", ");
const columns = `tenant, queue, ${jobStatuses.join(", ")}`;

/**
 * The totals and their changes are read in one snapshot, so that a fold is seen whole or not at all. The queues are
 * chosen first: each is then a look at its own row.
 */
const look = composed(
  "live/look",
  ["tenants", "named_tenants", "named_queues", "browsed_tenants", "first_queues", "ids"],
  `
  WITH known AS (
    SELECT ${columns} FROM atlasqueue.queue_counts WHERE tenant = ANY($1::text[])
    UNION ALL SELECT ${columns} FROM atlasqueue.queue_changes WHERE tenant = ANY($1::text[])
  ), totals AS (
    SELECT tenant, ${sums} FROM known GROUP BY tenant
  ), followed AS (
    SELECT * FROM unnest($2::text[], $3::text[]) AS named(tenant, queue)
    UNION
    SELECT browsed.tenant, first.queue FROM unnest($4::text[]) AS browsed(tenant), LATERAL (
      SELECT queue FROM atlasqueue.queue_counts WHERE queue_counts.tenant = browsed.tenant ORDER BY queue LIMIT $5::int) AS first
  ), queues AS (
    SELECT followed.tenant, followed.queue, ${sums} FROM followed LEFT JOIN known USING (tenant, queue)
    GROUP BY followed.tenant, followed.queue
  ), finished AS (
    SELECT tenant, id, queue, type, status,
           to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS finished_at
    FROM atlasqueue.jobs
    WHERE id = ANY($6::uuid[]) AND tenant = ANY($1::text[]) AND status IN ('succeeded', 'dead', 'cancelled')
    ORDER BY jobs.finished_at DESC
  )
  SELECT now() AS at, (SELECT json_agg(totals) FROM totals) AS totals, (SELECT json_agg(queues) FROM queues) AS queues,
         (SELECT json_agg(finished) FROM finished) AS finished`,
);
