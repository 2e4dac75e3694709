import type { QueueRef } from "../deps.ts";
import type { LeasedJob } from "../lease/lease.ts";

export type LeaseCall = QueueRef & {
  worker_id: string;
  lease_seconds: number;
  jobs_max: number;
  /** How long to wait for a job when there is none. */
  wait_ms: number;
};

/** A call that waits. `gone` aborts when it waits no more, however that came. */
export type Waiter = { call: LeaseCall; gone: AbortSignal; leave(answer: LeasedJob[] | Error): void };

/** Those that wait for jobs of one queue, the first that came in front. `serving`: jobs are on their way to them. */
export type Line = QueueRef & { waiters: Waiter[]; serving: boolean };

export const lineName = ({ tenant, queue }: QueueRef) => `${tenant} ${queue}`;

/** How many jobs those in front can take together. */
export function wantedBy(waiters: readonly Waiter[]): number {
  return waiters.reduce((sum, { call }) => sum + call.jobs_max, 0);
}

/** Who is to claim which: the first in line as many as it asked for, then the next. `left` are those nobody asked for. */
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
