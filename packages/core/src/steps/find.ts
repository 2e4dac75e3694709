import { limits, type Json, type JobSteps } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { shared_page_bytes_max, bytesOf } from "../memory-budget/bytes.ts";

/**
 * What the handlers of a tenant's job have done, what it was sent, and what it waits for or did; undefined when there is
 * no such job. At most some megabytes, as each kind is bounded.
 */
export async function findJobSteps(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
): Promise<JobSteps | undefined> {
  const text = await findJobStepsText(deps, tenant, id);
  return text === undefined ? undefined : (JSON.parse(text) as JobSteps);
}

/**
 * The same as text, for an answer: several megabytes, which would take twenty times as much memory if they were parsed
 * only to be written again.
 *
 * @example
 * const json = await findJobStepsText(deps, "default", id);
 */
export async function findJobStepsText(
  { database }: Pick<Deps, "database">,
  tenant: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await executeOn(database)<{ json: string }>({ text: all, params: [id, tenant] });
  return row?.json;
}

const utc = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const listed = (kind: string, order: string, fields: string) => `coalesce((
           SELECT json_agg(json_build_object('name', name, ${fields}) ORDER BY ${order}, name)
           FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = '${kind}'), '[]')`;

const all = composed(
  "steps/find",
  ["id", "tenant"],
  `
  SELECT json_build_object(
         'steps', ${listed("step", "at", `'result', value, 'attempt', attempt, 'finished_at', ${utc("at")}`)},
         'signals', ${listed("signal", "at", `'payload', value, 'sent_at', ${utc("at")}`)},
         'waits', ${listed("wait", "until", `'until', ${utc("until")}`)})::text AS json
  FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2`,
);

/** What comes with the lease of a job. */
export type LeasedSteps = {
  steps: Record<string, Json>;
  signals: Record<string, Json>;
  /** All of it. */
  complete: boolean;
};

/**
 * What the handlers of jobs have done and were sent, by the ids of those that have any: of each job as much as may come
 * with a lease, and of all together no more than a quarter of what payloads may weigh.
 */
export async function findLeasedSteps(
  { database }: Pick<Deps, "database">,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, LeasedSteps>> {
  const found = new Map<string, LeasedSteps>();
  if (ids.length === 0) return found;
  type Row = { job_id: string; kind: "step" | "signal"; name: string; value: Json; fits: boolean };
  const rows = await executeOn(database)<Row>({ text: leased, params: [uuidArray(ids), tenant] });
  for (const { job_id, kind, name, value, fits } of rows) {
    const of = found.get(job_id) ?? { steps: noNames(), signals: noNames(), complete: true };
    found.set(job_id, of);
    if (fits) of[`${kind}s`][name] = value;
    else of.complete = false;
  }
  return found;
}

/** Any name may be in it, `__proto__` too. */
const noNames = () => Object.create(null) as Record<string, Json>;

// What does not fit is not read: only its size is.
const leased = composed(
  "steps/find-leased",
  ["ids", "tenant"],
  `
  WITH kept AS (
    SELECT job_id, kind, name, value, at, ${bytesOf("value")} + octet_length(name) AS bytes
    FROM atlasqueue.job_state AS kept WHERE job_id = ANY($1::uuid[]) AND tenant = $2 AND kind <> 'wait'
  ), weighed AS (
    SELECT job_id, kind, name, value, sum(bytes) OVER of_job <= ${limits.leased_steps_bytes_max} AND sum(bytes) OVER of_all <= ${shared_page_bytes_max} AS fits
    FROM kept WINDOW of_job AS (PARTITION BY job_id ORDER BY at, kind, name), of_all AS (ORDER BY job_id, at, kind, name)
  )
  SELECT job_id, kind, name, CASE WHEN fits THEN value END AS value, fits FROM weighed`,
);
