import { errorOf, linksTo, onlyQueue, startOperation, type TraceSpan, type Tracing } from "@atlasqueue/contract";
import type { Lease } from "@atlasqueue/core/internal";
import { traceOf } from "./attempt.ts";

/**
 * The span `receive {queue}` of a claim that took jobs, sent at `began_at`. Claims that took none would be most of them,
 * and say nothing.
 */
export function traceReceived(tracing: Tracing, leases: readonly Lease[], began_at: number): void {
  const [first] = leases;
  if (!first) return;
  const { tenant, worker_id } = first;
  const links = linksTo(leases.map(traceOf));
  startOperation(tracing, "receive", {
    tenant,
    queue: onlyQueue(leases),
    count: leases.length,
    worker_id,
    parent: null,
    links,
    began_at,
  }).end();
}

type Attempt = { lease: Lease; span?: TraceSpan | undefined };

/** The settlement of some attempts as a span `ack {queue}` or `nack {queue}`: part of the attempt, if it is one. */
export async function traceSettled<T>(
  tracing: Tracing | undefined,
  name: "ack" | "nack",
  attempts: readonly Attempt[],
  settle: () => Promise<T>,
): Promise<T> {
  if (!tracing?.on()) return settle();
  const leases = attempts.map(({ lease }) => lease);
  const [first] = attempts;
  const one = attempts.length === 1 ? first : undefined;
  const span = startOperation(tracing, name, {
    tenant: first?.lease.tenant,
    queue: onlyQueue(leases),
    ...(one ? { id: one.lease.id } : { count: leases.length }),
    worker_id: first?.lease.worker_id,
    parent: one?.span?.context ?? null,
    links: linksTo(leases.map(traceOf)),
  });
  try {
    const settled = await settle();
    span.end();
    return settled;
  } catch (error) {
    span.end(errorOf(error));
    throw error;
  }
}
