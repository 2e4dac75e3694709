import { flowParameters, flowParams } from "../flows/store-flow.ts";
import type { Seen } from "./unique/plan.ts";
import { inputParameters, inputParams, type Draft } from "./insert-jobs.ts";

/** One draft in a statement, and what should become of it. */
export type Step = {
  draft: Draft;
  /**
   * `make`: it becomes a job. `join`: another job is the answer to it, which ends a pending one. `note`: only its
   * idempotency key is remembered.
   */
  role: "make" | "join" | "note";
  /** The job that its idempotency key stands for. */
  names: string;
  key_ttl_seconds: number;
  /** For one that makes a job: its unique key. */
  unique?: { key: string; window_seconds: number | null } | undefined;
  /** The job that gives its unique key to the new one, or is replaced. It must still be as it was seen. */
  seen?: Seen | null | undefined;
  /** What it asks for replaces what the job seen is; of those for the same job, one `writes`. */
  writes?: boolean | undefined;
  /** Why a pending job ends. */
  reason?: string | undefined;
};

/** `insert` is of new jobs, and `admit` of pending ones. */
export type Mode = "insert" | "admit";

/** What new jobs are, and the steps. Pending ones have the former in their rows. */
export function paramsOf(steps: readonly Step[], mode: Mode, postponed: boolean) {
  const drafts = steps.map(({ draft }) => draft);
  const told = steps.map(({ draft, unique, ...step }) => ({
    id: draft.id,
    key: draft.key,
    hash: draft.hash,
    ttl: step.key_ttl_seconds,
    role: step.role,
    names: step.names,
    unique_key: unique?.key,
    seen: step.seen?.id,
    version: step.seen?.version,
    window_seconds: unique?.window_seconds,
    writes: step.writes ?? false,
    reason: step.reason,
  }));
  const json = JSON.stringify(told);
  return mode === "admit" ? [json] : [...inputParams(drafts), ...flowParams(drafts), json, String(postponed)];
}

const stepInput = (parameter: number) => `json_to_recordset($${parameter}::text::json) AS (
        id uuid, key text, hash text, ttl float8, role text, names uuid, unique_key text, seen uuid, version text,
        window_seconds float8, writes boolean, reason text)`;
const stepNames = "key, hash, ttl, role, names, unique_key, seen, version, window_seconds, writes, reason";
const jobNames = "queue, type, priority, max_attempts, timeout_seconds, run_at";

const askedAnew = `
  asked AS MATERIALIZED (
    SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
    FROM ROWS FROM (
      unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
             $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
      json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[]),
      unnest($15::text[], $16::text[], $17::uuid[], $18::integer[], $19::uuid[]), json_array_elements($20::text::json),
      ${stepInput(21)}
    ) WITH ORDINALITY AS input(id, tenant, ${jobNames}, delay, group_key, backoff, payload, traceparent, tracestate,
      ref, on_parent_failure, flow_id, flow_place, spawned_by, parents, step_of, ${stepNames}, place)
  )`;
const askedBefore = `
  asked AS MATERIALIZED (
    SELECT job.*, greatest(now(), run_at) AS starts_at, step.*
    FROM ROWS FROM (${stepInput(1)}) WITH ORDINALITY AS step(step_of, ${stepNames}, place)
    CROSS JOIN LATERAL (
      SELECT id, tenant, ${jobNames}, group_key, backoff, payload, traceparent, tracestate
      FROM atlasqueue.jobs WHERE jobs.id = step_of OFFSET 0) AS job
  )`;

/** A part of a WITH: `asked` has a row for each step, with what its job is. */
export const asked = (mode: Mode) => (mode === "admit" ? askedBefore : askedAnew);

/** What `paramsOf` returns, by name. */
export const parametersOf = (mode: Mode): string[] =>
  mode === "admit" ? ["steps"] : [...inputParameters, ...flowParameters, "steps", "postponed"];

/** Whether the jobs of groups are to get their places after the commit, as another transaction has a group locked. */
export const isPostponed = "$22::text::boolean";
