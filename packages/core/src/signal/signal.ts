import type { QueueRef } from "../deps.ts";
import type { Permit, RateLimit } from "./token-bucket.ts";
import type { Presence } from "./presence.ts";

/** A queued job, as far as a signal needs to know it. */
export type ReadyJob = QueueRef & { id: string; priority: number };

/** The lists of one queue. `next` is the id (or junk) that would be handed out next. */
type QueueSignals = { length: number; next: string | undefined; overflowed: boolean; marked: boolean };

/**
 * Tells workers that jobs are ready: hints, never the truth. Losing all of it costs latency and no job. Every method
 * but `state` and `close` rejects with `SignalUnavailableError` when the other side is away, and none waits long for it.
 * Within a queue, higher priorities are handed out first, then the ones pushed first.
 */
export type Signal = {
  /** False when no worker listens: then jobs made ready are left to the workers' sweep. */
  readonly heard: boolean;
  /** True when it hands out no ids: a wait ends with `wakeMark`, and the worker claims the oldest. It has no dead letters. */
  readonly marks_only?: true;
  /**
   * Hand these out after those already there. When a list is full they are dropped and the overflow is remembered.
   * Of a marked queue, the list keeps one id for all of them. Resolves with how many were taken in.
   */
  push(jobs: readonly ReadyJob[]): Promise<number>;
  /** Hand these out next, in this order. Resolves with how many were not known to be there already. */
  pushFront(jobs: readonly ReadyJob[]): Promise<number>;
  /**
   * From now on a queue is marked, or not: its list has at most one id, which wakes a worker to claim what comes first. What was
   * in its lists is dropped, and an overflow is over: signal it again.
   */
  setMarked(queue: QueueRef, marked: boolean): Promise<void>;
  /** Up to `ids_max` ids at once, fewer or none when there are fewer. What comes out is untrusted. */
  take(queues: readonly QueueRef[], ids_max: number): Promise<Taken>;
  /**
   * Wait until something is pushed to one of the queues, at most `timeout_ms`; undefined when nothing was. `stop` ends
   * the wait at once; what was taken out by then is still handed over. One wait at a time per `Signal`. Rejects, even
   * midway, while the other side takes no writes: nothing is pushed then, so there is nothing to wait for.
   */
  wait(queues: readonly QueueRef[], timeout_ms: number, stop: AbortSignal): Promise<Woken | undefined>;
  look(queue: QueueRef): Promise<QueueSignals>;
  /** True for one caller across all processes in each period, so that a fleet sweeps once, not once per worker. */
  takeTurn(name: string, period_ms: number): Promise<boolean>;
  /**
   * Draw permits from the named bucket for wishes in order, one answer each. All processes that share the signal share
   * its buckets; without Redis, each process has its own.
   */
  takePermits(name: string, costs: readonly number[], rate: RateLimit): Promise<Permit[]>;
  deadLetters: DeadLetterList;
  notices: Notices;
  presence: Presence;
  /** By which a database recognizes its Redis; absent where there is none to share. */
  nonce?: RedisNonce;
  state(): SignalState;
  /** Rejects with `SignalUnavailableError`, whose message is for a person, unless the other side answers and takes writes. */
  check(): Promise<void>;
  close(): Promise<void>;
};

type RedisNonce = {
  read(): Promise<string | undefined>;
  /** Write the first of these, for so long, unless there is one that is none of them. */
  write(nonces: readonly string[], lasts_ms: number): Promise<void>;
};

/** `refusing`: it answers but takes no writes, being full, a replica, or too old. */
export type SignalState = "up" | "refusing" | "down";

/** Untrusted ids, and the queues that gave them, in the order of the call. */
export type Taken = { ids: string[]; from: QueueRef[] };

/** The queue that woke a waiter, and what came with it: an id, untrusted, or `wakeMark`. */
export type Woken = { queue: QueueRef; id: string };

/**
 * What happened to jobs: `finished` for those waiting for a result, `cancelled` for the worker running one. Sent to
 * those listening at that moment and stored nowhere, so a listener needs a safety net.
 */
export type Topic = "finished" | "cancelled";
export type Notices = {
  tell(topic: Topic, ids: readonly string[]): Promise<void>;
  /** Call the result to stop listening. Ids are untrusted. */
  listen(topic: Topic, hear: (ids: readonly string[]) => void): () => void;
};

/** The list that people inspect: a copy of what `status = 'dead'` says in Postgres, newest first. */
export type DeadLetterList = {
  /** Put ids in, once each however often this is called. */
  add(ids: readonly string[]): Promise<number>;
  remove(ids: readonly string[]): Promise<number>;
  page(offset: number, ids_max: number): Promise<string[]>;
  /** `consistent` is false when part of it was deleted or edited by hand. */
  look(): Promise<{ length: number; consistent: boolean; cursor: string | undefined }>;
  /**
   * Put a stretch in, and move the cursor, which says how far the list has been filled, from `from` (none: it has not
   * been begun) to `to`: both or neither. Gives how many were added, or `elsewhere` if the cursor was not there any more,
   * as after Redis was flushed.
   */
  carryOn(ids: readonly string[], from: string | undefined, to: string): Promise<number | "elsewhere">;
  clear(): Promise<void>;
};

/** The signal's other side is away or late. Whether the call took effect is unknown. */
export class SignalUnavailableError extends Error {
  override readonly name: string = "SignalUnavailableError";
}

/** The server is too old, or not of the kind that its URL says: waiting will not change that. */
export class SignalMisfitError extends SignalUnavailableError {}

/** Wakes a waiting worker for jobs that are not in the list itself. */
export const wakeMark = "wake";
/**
 * The most ids in one list: 40 MB of Redis. Jobs beyond it stay in Postgres and are signalled when the list is empty.
 */
export const signals_max = 1_000_000;

/** Notices within one process. */
export function memoryNotices(): Notices {
  const hearing = new Map<Topic, Set<(ids: readonly string[]) => void>>();
  return {
    async tell(topic, ids) {
      for (const hear of hearing.get(topic) ?? []) hear(ids);
    },
    listen(topic, hear) {
      const all = hearing.get(topic) ?? new Set();
      hearing.set(topic, all.add(hear));
      return () => void all.delete(hear);
    },
  };
}
