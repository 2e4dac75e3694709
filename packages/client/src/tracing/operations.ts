import { errorOf, startOperation, type About, type OperationName, type Tracing } from "@atlasqueue/contract";

/**
 * Run something as an operation on jobs: a span that is active meanwhile, so that what is sent carries it.
 */
export async function operation<T>(
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

/** The headers that carry the span active here to the API. */
export function traceHeaders(tracing: Tracing | undefined): Record<string, string> {
  const active = tracing?.on() ? tracing.active() : undefined;
  if (!active) return {};
  const { traceparent, tracestate } = active;
  return { traceparent, ...(tracestate !== null && { tracestate }) };
}
