import type { TraceContext } from "@atlasqueue/contract";
import type { QueueRef } from "../deps.ts";
import type { Handed } from "./leased-before.ts";

export type LeaseCall = QueueRef & {
  worker_id: string;
  lease_seconds: number;
  /** The caller's own: the call may be repeated with it. Default: one that is released if the caller is gone. */
  lease_token?: string | undefined;
  jobs_max: number;
  /** Only jobs of these types. Default: all. */
  types?: readonly string[] | undefined;
  /** How long to wait for a job when there is none. */
  wait_ms: number;
  /** Of the request: what is done for it is done elsewhere. */
  trace?: TraceContext | undefined;
};

/**
 * A waiting call. `gone` aborts when its wait is over: a claim for it that was sent by then is still its answer, so it
 * leaves the line only when that has ended (`claiming`).
 */
export type Waiter = {
  call: LeaseCall;
  gone: AbortSignal;
  claiming: boolean;
  /** Its wait is over. */
  end(): void;
  leave(answer: Handed | undefined | Error): void;
};

/**
 * The calls waiting for jobs of one queue, first come first. `serving`: jobs are on their way to them. `rest_ms`: how long it
 * rested last, as there were only jobs of types that none of them takes. `joined` aborts when a call joins the line.
 */
export type Line = QueueRef & { waiters: Waiter[]; serving: boolean; rest_ms: number; joined: AbortController };

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
