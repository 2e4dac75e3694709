import type { Client, Queue as StoredQueue } from "@atlasqueue/client";
import { missing } from "../jobs/job.ts";

export type RateLimiterOptions = { max: number; duration: number };
type Limits = StoredQueue["limits"];

let last: Promise<void> = Promise.resolve();

/** Changes some of a queue's limits. They hold for all its workers. One change after another, as each sets all limits. */
export function changeLimits(client: Client, queue: string, change: Partial<Limits>): Promise<void> {
  const act = async (): Promise<void> => {
    const now = await client.queue(queue).catch(missing);
    await client.setLimits(queue, { ...now?.limits, ...change });
  };
  return (last = last.then(act, act));
}

export const rateOf = ({ max, duration }: RateLimiterOptions): Limits["rate"] => ({
  limit: max,
  period_seconds: duration / 1_000,
});
