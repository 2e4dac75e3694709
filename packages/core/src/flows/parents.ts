import {
  jobStatuses,
  limits,
  type ParentCounts,
  type ParentPage,
  type ParentResult,
  type ParentsOfJob,
} from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { isCleared } from "./keeping/ended-flows.ts";
import { shared_page_bytes_max, bytesOf } from "../memory-budget/bytes.ts";

type Child = { id: string; flow_id: string | null };

/**
 * The parents of a tenant's jobs with their results, by the child's id: of each child the first hundred, or as many as
 * have 256 KiB of results together, and of all no more than a quarter of what a page of jobs may weigh; `parentsPage`
 * has the rest. Jobs that never waited for others are left out, and nothing is asked when none is of a flow.
 *
 * @example
 * const parents = (await parentsOf(deps, "default", [job])).get(job.id)?.parents;
 */
export async function parentsOf(
  deps: Pick<Deps, "database">,
  tenant: string,
  jobs: readonly Child[],
): Promise<Map<string, ParentsOfJob>> {
  const ids = jobs.filter(({ flow_id }) => flow_id !== null).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  type Row = { child: string; total: number; counts: Partial<ParentCounts> | null; shown: Shown[] | null };
  const params = [tenant, uuidArray(ids), 0, limits.parents_shown_max, limits.parents_shown_bytes_max];
  const rows = await executeOn(deps.database)<Row>({ text, params });
  return new Map(
    rows.map(({ child, total, counts, shown }) => {
      const parents = Object.fromEntries((shown ?? []).map((one) => [one.ref, showParent(one)]));
      const parent_counts = Object.fromEntries(jobStatuses.map((status) => [status, counts?.[status] ?? 0]));
      const parents_complete = (shown ?? []).length === total;
      return [child, { parents, parent_counts: parent_counts as ParentCounts, parents_complete }];
    }),
  );
}

/**
 * A page of a job's parents, after a place in their order. `next` is where the next page begins, undefined at the end.
 *
 * @example
 * const { items, next } = await parentsPage(deps, "default", id, 0, 100);
 */
export async function parentsPage(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
  after: number,
  limit: number,
): Promise<{ items: ParentPage["items"]; next: number | undefined }> {
  type Row = { total: number; shown: Shown[] | null };
  const params = [tenant, uuidArray([id]), after, limit, shared_page_bytes_max];
  const [row] = await executeOn(deps.database)<Row>({ text, params });
  const shown = row?.shown ?? [];
  const last = shown.at(-1)?.place;
  return {
    items: shown.map((one) => ({ ref: one.ref, ...showParent(one) })),
    next: last !== undefined && last < (row?.total ?? 0) ? last : undefined,
  };
}

type Shown = ParentResult & { ref: string; place: number; gone: boolean };

function showParent({ id, status, result, gone }: Shown): ParentResult {
  return { id, status, result, ...(gone && { result_gone: true }) };
}

/** LATERAL, as a join could be planned as a scan of the whole table. */
const seen = (columns: string) => `LATERAL (
      SELECT ${columns} FROM atlasqueue.jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0)`;

const asked = `
  children AS MATERIALIZED (
    SELECT job_id AS child, parents, json_array_length(parents) AS total, on_parent_failure <> 'run' AS counts_on_it
    FROM atlasqueue.flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1))
  ), asked AS MATERIALIZED (
    SELECT child, place::int, parent ->> 'ref' AS ref, (parent ->> 'id')::uuid AS id, counts_on_it
    FROM children, json_array_elements(parents) WITH ORDINALITY AS one(parent, place)
  )`;

/**
 * Weighed one by one, as those of a page are (`fitting`): each child's results up to a number of bytes, and those of all.
 * The very first is shown whatever its size, as a page must have something in it. A parent that was removed may have had
 * a result: a child that runs only when its parents succeed counted on it.
 */
const shown = `
  ranged AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY child, place)::int AS nth FROM asked WHERE place > $3::int AND place <= $3::int + $4::int
  ), in_order AS MATERIALIZED (
    SELECT array_agg(id ORDER BY nth) AS ids, array_agg(child ORDER BY nth) AS children FROM ranged
  ), weighed AS (
    SELECT 0 AS nth, false AS fits, 0::bigint AS of_child, 0::bigint AS of_all
    UNION ALL
    SELECT nth + 1, before < $5::int, before + bytes, of_all + bytes
    FROM weighed, in_order,
      LATERAL (SELECT CASE WHEN children[nth + 1] = children[nth] THEN of_child ELSE 0 END AS before) AS so_far,
      LATERAL (SELECT CASE WHEN before < $5::int THEN coalesce((
        SELECT ${bytesOf("result")} FROM atlasqueue.jobs WHERE id = ids[nth + 1] AND tenant = $1), 0) ELSE 0 END AS bytes OFFSET 0) AS own
    WHERE of_all < ${shared_page_bytes_max} AND nth < cardinality(ids)
  ), shown AS (
    SELECT child, json_agg(json_build_object('ref', ref, 'place', place, 'id', id, 'status', status,
             'gone', coalesce(cleared, counts_on_it), 'result', result) ORDER BY place) AS parents
    FROM ranged AS one LEFT JOIN ${seen(`status, result, ${isCleared} AS cleared`)} AS job ON true
    WHERE nth = ANY(ARRAY(SELECT nth FROM weighed WHERE fits)) GROUP BY child
  )`;

// The statuses of all are counted for a first page.
const text = composed(
  "flows/parents",
  ["tenant", "ids", "after", "parents_max", "child_bytes_max"],
  `
  WITH RECURSIVE ${asked}, ${shown}, counts AS (
    SELECT child, json_object_agg(status, jobs) AS counts FROM (
      SELECT child, status, count(*) AS jobs FROM asked AS one, ${seen("status")} AS job WHERE $3::int = 0 GROUP BY child, status) AS by_status
    GROUP BY child
  )
  SELECT child, total, counts, parents AS shown
  FROM (SELECT child, total FROM children WHERE total > 0) AS children LEFT JOIN counts USING (child) LEFT JOIN shown USING (child)`,
);
