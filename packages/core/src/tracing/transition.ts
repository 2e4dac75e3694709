import { attribute, errorOf, postgresql, type TraceContext, type TraceSpan, type Tracing } from "@atlasqueue/contract";

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
export async function inSpan<T>(span: TraceSpan, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    span.end();
    return done;
  } catch (error) {
    span.end(errorOf(error));
    throw error;
  }
}
