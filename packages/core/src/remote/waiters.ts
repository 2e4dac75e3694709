import type { TraceContext } from "@atlasqueue/contract";
import type { QueueRef } from "../deps.ts";
import type { HandedJob } from "../lease/lease.ts";
import type { Place } from "../room/waiting-room.ts";

export type LeaseCall = QueueRef & {
  worker_id: string;
  lease_seconds: number;
  /** Of the caller's own, so that it can give back what it heard nothing of. */
  lease_token?: string | undefined;
  jobs_max: number;
  /** How long to wait for a job when there is none. */
  wait_ms: number;
  /** Room for the jobs while they are read and answered: whoever is given any leaves it afterwards, and only they. */
  room?: Place | undefined;
  /** Of the request: what is done for it is done elsewhere. */
  trace?: TraceContext | undefined;
};

/** A waiting call. `gone` aborts when it stops waiting, for whatever reason; `leave` is false when it had before. */
export type Waiter = { call: LeaseCall; gone: AbortSignal; leave(answer: HandedJob[] | Error): boolean };

/** The calls waiting for jobs of one queue, first come first. `serving`: jobs are on their way to them. */
export type Line = QueueRef & { waiters: Waiter[]; serving: boolean };

export const lineName = ({ tenant, queue }: QueueRef) => `${tenant} ${queue}`;

/** How many jobs the first calls can take together. */
export function wantedBy(waiters: readonly Waiter[]): number {
  return waiters.reduce((sum, { call }) => sum + call.jobs_max, 0);
}

/**
 * Which call claims which ids: the first in line as many as it asked for, then the next. `left` are those no call asked
 * for.
 */
export function deal(waiters: readonly Waiter[], ids: readonly string[]) {
  const hands: { waiter: Waiter; ids: string[] }[] = [];
  let dealt = 0;
  for (const waiter of waiters) {
    if (dealt >= ids.length) break;
    const hand = ids.slice(dealt, dealt + waiter.call.jobs_max);
    hands.push({ waiter, ids: hand });
    dealt += hand.length;
  }
  return { hands, left: ids.slice(dealt) };
}
