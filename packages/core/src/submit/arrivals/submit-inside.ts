import { canonicalJson, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import { textArray } from "../../database/literals.ts";
import type { Execute } from "../../database/statement.ts";
import type { ReadyJob } from "../../signal/signal.ts";
import type { EnqueueOptions } from "../enqueue.ts";
import type { Submission } from "../outcome.ts";

type Known = { id: string; status: JobStatus };
export type InsideOutcome =
  | { kind: "created" | "replayed"; job: Known }
  | { kind: "mismatch" }
  | { kind: "conflict"; job_id: string };

/** After the commit, `ready` is to be signalled, and a `pending` job is to be admitted. */
export type Inside = { outcome: InsideOutcome; ready?: ReadyJob; pending?: boolean };

/**
 * Store a job in a transaction that is not ours, and may stay open for long, or has more to do: the function `submit_job` of
 * the database reads and inserts, and holds nothing anyone could wait for. No event is emitted, as it may yet be rolled back.
 *
 * @example
 * const { outcome } = await submitInside(executeIn(tx), submission, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitInside(execute: Execute, one: Submission, options: EnqueueOptions): Promise<Inside> {
  const [stored] = await submitAllInside(execute, [one], options);
  return stored as Inside;
}

/** The same for several, in one statement: from far away each takes its time. Answers are in the order of the submissions. */
export async function submitAllInside(
  execute: Execute,
  submissions: readonly Submission[],
  { idempotency_ttl_seconds }: EnqueueOptions,
): Promise<Inside[]> {
  if (submissions.length === 0) return [];
  const options = submissions.map(({ tenant, idempotency_key, trace, request }) => {
    const { type: _, payload: __, ...rest } = request;
    return { ...rest, tenant, idempotency_key, idempotency_ttl_seconds, ...withState(trace) };
  });
  const types = textArray(submissions.map(({ request }) => request.type));
  const payloads = `[${submissions.map(({ request }) => canonicalJson(request.payload)).join(",")}]`;
  const rows = await execute<Row>({ text, params: [types, payloads, JSON.stringify(options)] });
  return submissions.map((one, at) => {
    const row = rows[at];
    if (!row) throw new Error("the function gave no row");
    return insideOf(one, row);
  });
}

function insideOf({ tenant, request: { queue, priority } }: Submission, { outcome, id, status }: Row): Inside {
  if (outcome === "mismatch") return { outcome: { kind: outcome } };
  if (outcome === "conflict") return { outcome: { kind: outcome, job_id: id } };
  const made: Inside = { outcome: { kind: outcome, job: { id, status } } };
  if (outcome === "replayed") return made;
  if (status === "blocked") return { ...made, pending: true };
  return status === "queued" ? { ...made, ready: { id, tenant, queue, priority } } : made;
}

type Row = Known & { outcome: "created" | "replayed" | "mismatch" | "conflict" };

/** A trace context as the options of the functions. */
export function withState(trace: Submission["trace"]) {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

const text = composed(
  "submit/inside",
  ["types", "payloads", "options"],
  `
  SELECT outcome, id, status
  FROM ROWS FROM (unnest($1::text[]), json_array_elements($2::text::json), json_array_elements($3::text::json))
    WITH ORDINALITY AS asked(type, payload, options, place)
  CROSS JOIN LATERAL atlasqueue.submit_job(type, payload, options::jsonb) ORDER BY place`,
);
