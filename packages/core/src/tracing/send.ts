import {
  attribute,
  linksTo,
  onlyQueue,
  startOperation,
  type TraceContext,
  type TraceSpan,
  type Tracing,
} from "@atlasqueue/contract";
import { inSpan, transition } from "./transition.ts";
import type { InsideOutcome } from "../submit/arrivals/submit-inside.ts";
import type { EnqueueOutcome, Submission } from "../submit/outcome.ts";

type Sent = EnqueueOutcome | InsideOutcome;
type Traced = { tracing?: Tracing | undefined };

/**
 * Submit one job inside a span `send {queue}`, a child of what the submission names, otherwise of the span active here. Its
 * context is what the job carries.
 *
 * @example
 * const outcome = await sendOne(deps, submission, (one) => line.submit(one, bytes));
 */
export function sendOne(
  deps: Traced,
  submission: Submission,
  store: (submission: Submission) => Promise<EnqueueOutcome>,
): Promise<EnqueueOutcome> {
  return send(deps, submission, store, (outcome) => outcome);
}

/** The same for a job stored in a transaction of the caller's. */
export function sendInside<T extends { outcome: Sent }>(
  deps: Traced,
  submission: Submission,
  store: (submission: Submission) => Promise<T>,
): Promise<T> {
  return send(deps, submission, store, ({ outcome }) => outcome);
}

async function send<T>(
  { tracing }: Traced,
  submission: Submission,
  store: (submission: Submission) => Promise<T>,
  outcomeOf: (stored: T) => Sent,
): Promise<T> {
  if (!tracing?.on()) return store(submission);
  const span = startOperation(tracing, "send", { ...aboutOf(submission), parent: submission.trace });
  return inSpan(span, async () => {
    const stored = await store(carrying(submission, span));
    const outcome = outcomeOf(stored);
    span.set({ [attribute.message_id]: idOf(outcome), [attribute.outcome]: outcome.kind });
    return stored;
  });
}

const aboutOf = ({ tenant, request: { queue, type } }: Submission) => ({ tenant, queue, type });

/**
 * Submit several jobs in a span `send {queue}`. Each carries the context of its own span `create {queue}`, to which that
 * one links; where those are not wanted, the context of `send` itself.
 */
export async function sendAll<T>(
  { tracing }: Traced,
  submissions: readonly Submission[],
  store: (submissions: readonly Submission[]) => Promise<T>,
): Promise<T> {
  if (!tracing?.on() || submissions.length === 0) return store(submissions);
  const parent = submissions[0]?.trace;
  const own = tracing.create_spans;
  const carriers = own ? submissions.map((one) => created(tracing, one)) : [];
  const links = linksTo(carriers.map(({ trace }) => trace));
  const queue = onlyQueue(submissions.map(({ request }) => request));
  const kind = own ? "client" : "producer";
  const span = startOperation(tracing, "send", {
    tenant: submissions[0]?.tenant,
    queue,
    count: submissions.length,
    kind,
    parent,
    links,
  });
  return inSpan(span, () => store(own ? carriers : submissions.map((one) => carrying(one, span))));
}

/** The statements that store jobs: part of the first one's submission, linked to the others', which share them. */
export function asInsert<T>(deps: Traced, submissions: readonly Submission[], insert: () => Promise<T>): Promise<T> {
  if (!deps.tracing) return insert();
  const [parent, ...links] = linksTo(submissions.map(({ trace }) => trace));
  return transition(deps, "insert", { count: submissions.length, parent: parent ?? null, links }, insert);
}

/** A schedule's job begins a trace of its own, which links to the request that stored the schedule. */
export function asFired({ tracing }: Traced, submission: Submission): Submission {
  return tracing?.on()
    ? created(tracing, submission, { parent: null, links: linksTo([submission.trace]) })
    : submission;
}

function created(
  tracing: Tracing,
  submission: Submission,
  from: { parent: TraceContext | null | undefined; links?: TraceContext[] } = { parent: submission.trace },
): Submission {
  const span = startOperation(tracing, "create", { ...aboutOf(submission), ...from });
  span.end();
  return carrying(submission, span);
}

function carrying(submission: Submission, { context }: TraceSpan): Submission {
  return context ? { ...submission, trace: context } : submission;
}

const idOf = (outcome: Sent) => ("job" in outcome ? outcome.job.id : undefined);
