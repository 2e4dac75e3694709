import type { JobStatus, Json } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf } from "../jobs/page-bytes.ts";

/** A job that another one waited for; its status is null when it has been removed since. */
export type ParentResult = { id: string; status: JobStatus | null; result: Json };

/** The parents of a job by ref, in the order of its request; not all of them unless `parents_complete`. */
export type ParentsOfJob = {
  parents: Record<string, ParentResult>;
  /** Of all of them: how many are in each status. */
  parent_counts: Partial<Record<JobStatus, number>>;
  parents_complete: boolean;
};

/** How many parents are answered with a job, and the bytes of results after which no more are. */
const parents_max = 100;
const results_bytes_max = 262_144;

/**
 * The parents of a tenant's jobs with their results, by the child's id: of each child the first hundred, or as many as
 * have 256 KiB of results together; `parentsPage` has the rest. Jobs that never waited for others are left out.
 *
 * @example
 * const parents = (await parentsOf(deps, "default", [id])).get(id)?.parents;
 */
export async function parentsOf(
  deps: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, ParentsOfJob>> {
  if (ids.length === 0) return new Map();
  type Row = { child: string; total: number; counts: ParentsOfJob["parent_counts"] | null; shown: Shown[] };
  const rows = await executeOn(deps.database)<Row>({ text: first, params: [tenant, uuidArray(ids)] });
  return new Map(
    rows.map(({ child, total, counts, shown }) => {
      const parents = Object.fromEntries(shown.map(({ ref, place: _place, ...parent }) => [ref, parent]));
      return [child, { parents, parent_counts: counts ?? {}, parents_complete: shown.length === total }];
    }),
  );
}

/**
 * A page of a job's parents, after a place in their order. `next` is where the next page begins, undefined at the end.
 *
 * @example
 * const { parents, next } = await parentsPage(deps, "default", id, 0, 100);
 */
export async function parentsPage(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
  after: number,
  limit: number,
): Promise<{ parents: (ParentResult & { ref: string })[]; next: number | undefined }> {
  type Row = { total: number; shown: Shown[] | null };
  const params = [tenant, uuidArray([id]), after, limit];
  const [row] = await executeOn(deps.database)<Row>({ text: page, params });
  const shown = row?.shown ?? [];
  const last = shown.at(-1)?.place;
  return {
    parents: shown.map(({ place: _place, ...parent }) => parent),
    next: last !== undefined && last < (row?.total ?? 0) ? last : undefined,
  };
}

type Shown = ParentResult & { ref: string; place: number };

const asked = `
  asked AS MATERIALIZED (
    SELECT job_id AS child, nth::int AS place, parent ->> 'ref' AS ref, (parent ->> 'id')::uuid AS id,
           json_array_length(parents) AS total
    FROM flow_jobs, json_array_elements(parents) WITH ORDINALITY AS one(parent, nth)
    WHERE job_id = ANY(ARRAY(SELECT id FROM jobs WHERE id = ANY($2::uuid[]) AND tenant = $1))
  )`;

/** LATERAL, as a join could be planned as a scan of the whole table. */
const seen = (columns: string) => `LATERAL (
      SELECT ${columns} FROM jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0)`;

/** The first of each child's is shown whatever its size, as a page must have something in it. */
const shown = (range: string) => `
  weighed AS MATERIALIZED (
    SELECT one.*, status, coalesce(sum(bytes) OVER (
             PARTITION BY child ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM asked AS one LEFT JOIN ${seen(`status, ${bytesOf("result")} AS bytes`)} AS job ON true WHERE ${range}
  ), shown AS (
    SELECT child, json_agg(json_build_object('ref', ref, 'place', place, 'id', id, 'status', weighed.status,
             'result', (SELECT result FROM jobs WHERE jobs.id = weighed.id AND jobs.tenant = $1)) ORDER BY place) AS parents
    FROM weighed WHERE before < ${results_bytes_max} GROUP BY child
  )`;

const first = composed(
  "flows/parents",
  ["tenant", "ids"],
  `
  WITH ${asked}, ${shown(`place <= ${parents_max}`)}, counts AS (
    SELECT child, json_object_agg(status, jobs) AS counts FROM (
      SELECT child, status, count(*) AS jobs FROM asked AS one, ${seen("status")} AS job GROUP BY child, status) AS by_status
    GROUP BY child
  )
  SELECT shown.child, (SELECT max(total) FROM asked WHERE asked.child = shown.child) AS total, counts, shown.parents AS shown
  FROM shown LEFT JOIN counts ON counts.child = shown.child`,
);

const page = composed(
  "flows/parents-page",
  ["tenant", "ids", "after", "parents_max"],
  `
  WITH ${asked}, ${shown("place > $3::int AND place <= $3::int + $4::int")}
  SELECT (SELECT max(total) FROM asked) AS total, (SELECT parents FROM shown) AS shown`,
);
