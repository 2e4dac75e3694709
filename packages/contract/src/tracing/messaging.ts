import { attribute, messaging_system, operations, other_name, type OperationName } from "./conventions.ts";
import type { TraceContext } from "./trace-context.ts";
import type { ChildAttempts, SpanAttributes, SpanKind, TraceSpan, Tracing } from "./tracing.ts";

/** What an operation is about. `queue` is undefined when it is about jobs of several. */
export type About = {
  /** Whose jobs, where more than one tenant has some. */
  tenant?: string | undefined;
  queue: string | undefined;
  /** The job's id, for an operation on one. */
  id?: string | undefined;
  /** How many jobs, for an operation on several. */
  count?: number | undefined;
  type?: string | undefined;
  attempt?: number | undefined;
  worker_id?: string | undefined;
  /** Default: what is usual for the operation. */
  kind?: SpanKind;
  parent?: TraceContext | null | undefined;
  links?: readonly TraceContext[];
  /** Milliseconds since 1970; default now. */
  began_at?: number;
};

/**
 * Begin the span of an operation on jobs, named `{operation} {queue}`. Its end records the operation's metrics.
 *
 * @example
 * const span = startOperation(tracing, "send", { queue: "mail", type: "email.send" });
 * span.end();
 */
export function startOperation(tracing: Tracing, name: OperationName, about: About): TraceSpan {
  const operation = operations[name];
  const began_at = about.began_at ?? Date.now();
  const clock = performance.now() - (Date.now() - began_at);
  const common: SpanAttributes = {
    [attribute.system]: messaging_system,
    [attribute.operation]: name,
    [attribute.operation_type]: operation.type,
    [attribute.destination]: about.queue,
  };
  const span = tracing.start({
    name: about.queue === undefined ? name : `${name} ${about.queue}`,
    kind: about.kind ?? operation.kind,
    parent: about.parent,
    ...(about.links && { links: about.links }),
    attributes: {
      ...common,
      [attribute.message_id]: about.id,
      [attribute.batch_count]: about.count,
      [attribute.client_id]: about.worker_id,
      [attribute.job_type]: about.type,
      [attribute.attempt]: about.attempt,
    },
    began_at: about.began_at,
  });
  return {
    get context() {
      return span.context;
    },
    active: span.active,
    set: span.set,
    rename: span.rename,
    end(error) {
      span.end(error);
      const told = error ? { ...common, [attribute.error_type]: error.type } : common;
      tracing.measure(operation.duration, (performance.now() - clock) / 1_000, told, about.tenant);
      if ("counts" in operation) tracing.measure(operation.counts, about.count ?? 1, told, about.tenant);
    },
  };
}

/**
 * Run something as an operation on jobs: a span that is active meanwhile, so that what is sent carries it.
 */
export async function inOperation<T>(
  tracing: Tracing | undefined,
  name: OperationName,
  about: () => About,
  work: () => Promise<T>,
): Promise<T> {
  if (!tracing?.on()) return work();
  const span = startOperation(tracing, name, about());
  try {
    const done = await span.active(work);
    span.end();
    return done;
  } catch (error) {
    span.end(errorOf(error));
    throw error;
  }
}

/** The parent and the link of an attempt's span. It always links to the submission, and may be its child as well. */
export function placeOfAttempt(
  trace: TraceContext | undefined,
  { attempt, delayed }: { attempt: number; delayed: boolean },
  children: ChildAttempts,
): { parent: TraceContext | null; links: readonly TraceContext[] } {
  if (!trace) return { parent: null, links: [] };
  const child = children === "all" || (children === "first" && attempt === 1 && !delayed);
  return { parent: child ? trace : null, links: [trace] };
}

/** The queue of all of them, if it is one. */
export function onlyQueue(jobs: readonly { queue: string }[]): string | undefined {
  const [first] = jobs;
  return jobs.every(({ queue }) => queue === first?.queue) ? first?.queue : undefined;
}

/** Spans have a bounded number of links; a batch may have more jobs. */
const links_max = 128;

/** The contexts there are, for links. */
export function linksTo(contexts: readonly (TraceContext | undefined)[]): TraceContext[] {
  return contexts.flatMap((one) => one ?? []).slice(0, links_max);
}

/** The class of an error from the text kept with an attempt, `Type: message`: few enough to group by. */
export function errorTypeOf(error: string): string {
  return /^([A-Za-z_$][\w$.]{0,127}): /.exec(error)?.[1] ?? other_name;
}

/** The same of anything thrown. */
export function errorOf(thrown: unknown): { type: string; message?: string | undefined } {
  if (!(thrown instanceof Error)) return { type: other_name };
  return { type: thrown.name || other_name, message: thrown.message };
}
