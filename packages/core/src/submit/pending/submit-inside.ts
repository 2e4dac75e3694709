import { canonicalJson, type JobStatus, type Fault } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import { type Execute, executeOn } from "../../database/statement.ts";
import type { EnqueueOptions } from "../enqueue.ts";
import type { Submission } from "../outcome.ts";
import { isUuid, uuidArray } from "../../database/literals.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../pause.ts";
import { announce } from "../../signal/announce.ts";
import type { ReadyJob, Signal } from "../../signal/signal.ts";
import type { Flow, FlowJob } from "../../flows/flow.ts";

type Known = { id: string; status: JobStatus };
export type InsideOutcome =
  | { kind: "created" | "replayed"; job: Known }
  | { kind: "mismatch" }
  | { kind: "conflict"; job_id: string };

/**
 * Store a job in a transaction that is not ours, and may stay open for long: the function `submit_job` of the database
 * reads and inserts, and holds nothing anyone could wait for. No event is emitted, as it may yet be rolled back.
 *
 * @example
 * const outcome = await submitInside(executeIn(tx), submission, { idempotency_ttl_seconds: 86_400 });
 */
export async function submitInside(
  execute: Execute,
  { tenant, request, idempotency_key, trace }: Submission,
  { idempotency_ttl_seconds }: EnqueueOptions,
): Promise<InsideOutcome> {
  const { type, payload, ...rest } = request;
  const options = { ...rest, tenant, idempotency_key, idempotency_ttl_seconds, ...withState(trace) };
  const params = [type, canonicalJson(payload), JSON.stringify(options)];
  const [row] = await execute<Row>({ text: submitJob, params });
  if (!row) throw new Error("the function gave no row");
  const { outcome, id, status } = row;
  if (outcome === "mismatch") return { kind: outcome };
  if (outcome === "conflict") return { kind: outcome, job_id: id };
  return { kind: outcome, job: { id, status } };
}

type Row = Known & { outcome: "created" | "replayed" | "mismatch" | "conflict" };

/** A trace context as the options of the functions. */
function withState(trace: Submission["trace"]) {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

const submitJob = composed(
  "submit/inside",
  ["type", "payload", "options"],
  "SELECT outcome, id, status FROM atlasqueue.submit_job($1::text, (SELECT $2::text::json), (SELECT $3::text::jsonb))",
);

/**
 * What jobs that were submitted in a caller's transaction need after the commit: the ready ones are signalled, and the
 * pending ones admitted. Never rejects. What is not done by the database's deadline, the sweep does.
 *
 * @example
 * await announceInside(deps, followUps, "default", [{ id }]);
 */
export async function announceInside(
  deps: Deps & { signal: Signal },
  followUps: { drain(): Promise<void> },
  tenant: string,
  submitted: readonly { id: string }[],
): Promise<void> {
  const params = [uuidArray(submitted.map(({ id }) => id).filter(isUuid)), tenant];
  const look = async (): Promise<void> => {
    const jobs = await executeOn(deps.database)<ReadyJob & { status: JobStatus }>({ text: statuses, params });
    await announce(
      deps,
      jobs.filter(({ status }) => status === "queued"),
    );
    if (jobs.some(({ status }) => status === "blocked")) await followUps.drain();
  };
  const over = new AbortController();
  const report = (error: unknown) => deps.observe({ event: "follow_up_failed", error: String(error) });
  await Promise.race([look().catch(report), pause(deps.database.timeout_ms, over.signal)]);
  over.abort();
}

const statuses =
  "SELECT id, tenant, queue, priority, status FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $2";

/**
 * Store jobs that wait for one another in a transaction that is not ours, and may stay open for long: the function
 * `submit_flow` of the database only inserts. Returns the jobs in their order, and `then` as the last. It must be a flow
 * without `insideFaults`. `submissions` are its jobs, each with its place in a trace.
 *
 * @example
 * const jobs = await submitFlowInside(executeIn(tx), flow, jobsOf(flow));
 */
export async function submitFlowInside(
  execute: Execute,
  flow: Flow,
  submissions: readonly Submission[],
): Promise<readonly { id: string }[]> {
  const members = submissions.map(({ request, trace }, at) => {
    const { ref, depends_on, on_parent_failure }: Partial<FlowJob> = flow.jobs[at] ?? {};
    return { ...request, ref, depends_on, on_parent_failure, ...withState(trace) };
  });
  const jobs = members.slice(0, flow.jobs.length);
  const options = { tenant: submissions[0]?.tenant, then: flow.then && members.at(-1) };
  return execute<{ id: string }>({ text: submitFlow, params: [JSON.stringify(jobs), JSON.stringify(options)] });
}

/**
 * What the function refuses and `flowFaults` does not. An existing job would have to be locked until the caller's commit,
 * and a job that waits gets no unique key.
 */
export function insideFaults({ jobs, then }: Flow): Fault[] {
  const ids = jobs.flatMap(({ depends_on = [] }, at) => {
    const nth = depends_on.findIndex((name) => isUuid(name));
    return nth < 0
      ? []
      : [{ pointer: `/jobs/${at}/depends_on/${nth}`, message: "must be the ref of a job in this list" }];
  });
  const waiting = [
    ...jobs.map((job, at) => ({ job, pointer: `/jobs/${at}`, waits: (job.depends_on ?? []).length > 0 })),
    ...(then ? [{ job: then, pointer: "/then", waits: true }] : []),
  ];
  const unique = waiting.flatMap(({ job, pointer, waits }) =>
    waits && job.request.unique
      ? [{ pointer: `${pointer}/unique`, message: "must be left out for a job that waits for others" }]
      : [],
  );
  const isKeyed = jobs.some(({ idempotency_key }) => idempotency_key !== undefined);
  const message = "must be left out, as your transaction stores the flow once";
  return [...(isKeyed ? [{ pointer: "/idempotency_key", message }] : []), ...ids, ...unique];
}

const submitFlow = composed(
  "submit/inside-flow",
  ["jobs", "options"],
  "SELECT id FROM unnest(atlasqueue.submit_flow((SELECT $1::text::json), (SELECT $2::text::jsonb))) AS made(id)",
);
