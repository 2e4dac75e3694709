import { traceFields } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema/index.ts";
import type { QueueRef } from "../deps.ts";
import type { OfAttempt } from "../observe/events.ts";
import type { ReadyJob } from "../signal/signal.ts";
import type { ClaimSize } from "./claim-size.ts";

/** A job held by one worker. The token is the proof in every later call; jobs claimed together share it. */
export type Lease = Pick<
  JobRow,
  | "id"
  | "queue"
  | "type"
  | "priority"
  | "attempts"
  | "max_attempts"
  | "payload"
  | "timeout_seconds"
  | "backoff"
  | "last_error"
  | "group_key"
> & {
  tenant: string;
  lease_token: string;
  worker_id: string;
  /** Its queue has limits or turns: when it finishes, another may start. */
  limited?: boolean;
  /** How long it had been ready to run when it was claimed. */
  waited_seconds?: number;
  /** The size of its payload, of a job that was claimed. */
  payload_bytes?: number;
  /** Others of its group waited behind it when it was leased. */
  followed?: boolean | null;
  /** Without one it has no parents. */
  flow_id?: string | null;
  /** Where it was submitted, and whether for later. */
  traceparent?: string | null;
  tracestate?: string | null;
  delayed?: boolean;
};

/** As much of a lease as it takes to give it back. */
export type Returnable = Told & Pick<Lease, "priority" | "lease_token">;

/**
 * To keep rather than a lease, whose payload is many times as large.
 *
 * @example
 * const held = leases.map(returnable);
 */
export function returnable(lease: Returnable): Returnable {
  const { tenant, id, queue, type, priority, attempts, lease_token, worker_id, traceparent } = lease;
  return { tenant, id, queue, type, priority, attempts, lease_token, worker_id, ...(traceparent && { traceparent }) };
}

/** A lease with the whole job as it is now: what a remote worker gets. */
export type LeasedJob = JobRow & { lease_token: string; locked_until: Date; worker_id: string };

export type Claimer = {
  tenant: string;
  queues: readonly string[];
  worker_id: string;
  lease_seconds: number;
  /** A token of the claimer's own, for one claim that leases something. Default: a fresh one for each. */
  lease_token?: string | undefined;
  /**
   * How many jobs there is room for beyond one for each id. Called once, and only where an id is of a queue with limits or
   * turns, as that stands for several jobs; the room must be kept until the claim ends. Default: none.
   */
  more_room?: () => number;
  /** Only jobs of these types. Those of others among the ids are put back. Default: all. */
  types?: readonly string[] | undefined;
  /** Each lease has the whole job in place of its payload (`wholeJob`): for a remote worker. */
  whole?: boolean;
  /** Told how large the payloads are, so that the next claims ask for as many jobs as fit into memory. */
  size?: ClaimSize;
  /** A queue's jobs could not be taken because of its rate; says when there is room again. */
  throttled?: (queue: QueueRef, retry_in_ms: number) => void;
  /** A claim under this token was sent and not answered. It may have been committed, so it must be taken back. */
  unanswered?: ((lease_token: string, tenant: string) => void) | undefined;
  /** Jobs of other types, and one of each queue with limits or turns that may have more: to be signalled again in front. */
  put_back?: (jobs: readonly ReadyJob[]) => void;
  /** Which kind of queues comes first, for claims without a signal. Default `Math.random`. */
  random?: () => number;
};

type Told = Pick<Lease, "tenant" | "id" | "type" | "queue" | "attempts" | "worker_id" | "traceparent">;

/**
 * An event that says no more than which lease it is about. For those of every job: to spread `aboutLease` behind another
 * field costs four times as much as this.
 *
 * @example
 * deps.observe(leaseEvent("job_succeeded", lease));
 */
export function leaseEvent<Name extends string>(event: Name, lease: Told): { event: Name } & OfAttempt {
  const told = {
    event,
    tenant: lease.tenant,
    job_id: lease.id,
    job_type: lease.type,
    queue: lease.queue,
    attempt: lease.attempts,
    worker_id: lease.worker_id,
  };
  return lease.traceparent ? { ...told, ...traceFields({ traceparent: lease.traceparent }) } : told;
}

/** A lease as events describe it. */
export function aboutLease(lease: Told): OfAttempt {
  const { event: _, ...about } = leaseEvent("", lease);
  return about;
}
