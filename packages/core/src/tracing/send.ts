import {
  attribute,
  errorOf,
  postgresql,
  type TraceContext,
  type TraceSpan,
  type Tracing,
  linksTo,
  onlyQueue,
  startOperation,
} from "@atlasqueue/contract";
import type { InsideOutcome } from "../submit/pending/submit-inside.ts";
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
export async function sendOne<Outcome extends Sent>(
  { tracing }: Traced,
  submission: Submission,
  store: (submission: Submission) => Promise<Outcome>,
): Promise<Outcome> {
  if (!tracing?.on()) return store(submission);
  const span = startOperation(tracing, "send", { ...aboutOf(submission), parent: submission.trace });
  return inSpan(span, async () => {
    const outcome = await store(carrying(submission, span));
    span.set({ [attribute.message_id]: idOf(outcome), [attribute.outcome]: outcome.kind });
    return outcome;
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

/** `parent`: undefined is the span active here; null is none, and then there is no span. */
type About = { count?: number; parent?: TraceContext | null | undefined; links?: readonly TraceContext[] };

/**
 * A move of jobs from one status to another as a span of the database, however many statements it takes: `complete
 * jobs`. Only as part of something: what loops do on their own would be traces nobody asked for.
 *
 * @example
 * const outcomes = await transition(deps, "complete", { count: 3 }, () => complete(deps, completions));
 */
export async function transition<T>(
  { tracing }: { tracing?: Tracing | undefined },
  name: string,
  { count, parent, links = [] }: About,
  move: () => Promise<T>,
): Promise<T> {
  if (!tracing?.on() || parent === null || (parent === undefined && !tracing.active())) return move();
  const span = tracing.start({
    name: `${name} jobs`,
    kind: "client",
    parent,
    links,
    attributes: {
      [attribute.database_system]: postgresql,
      [attribute.database_operation]: name,
      [attribute.database_collection]: "jobs",
      [attribute.database_batch]: count === 1 ? undefined : count,
    },
  });
  return inSpan(span, () => span.active(move));
}

/** Ends the span when the work ends, with its error if it fails. */
async function inSpan<T>(span: TraceSpan, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    span.end();
    return done;
  } catch (error) {
    span.end(errorOf(error));
    throw error;
  }
}
