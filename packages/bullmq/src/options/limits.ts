import type { Client, Queue as StoredQueue } from "@atlasqueue/client";
import { missing } from "../jobs/job.ts";

export type RateLimiterOptions = { max: number; duration: number };
type Limits = StoredQueue["limits"];

/** Changes some of a queue's limits. They hold for all its workers. */
export async function changeLimits(client: Client, queue: string, change: Partial<Limits>): Promise<void> {
  const now = await client.queue(queue).catch(missing);
  await client.setLimits(queue, { ...now?.limits, ...change });
}

export const rateOf = ({ max, duration }: RateLimiterOptions): Limits["rate"] => ({
  limit: max,
  period_seconds: duration / 1_000,
});
