import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { redisUrl } from "../servers/shared-servers.ts";

/**
 * Another database at work on the same keys of the Redis: its nonce changes all the time.
 *
 * @example
 * const other = await otherOwner(jobsKey);
 * await other.leave();
 */
export async function otherOwner(jobs_key: string) {
  const redis = new Redis(redisUrl());
  const write = () => redis.set(`${jobs_key}:nonce`, randomUUID(), "PX", 60_000);
  await write();
  const writing = setInterval(() => void write().catch(() => {}), 5);
  return {
    leave() {
      clearInterval(writing);
      redis.disconnect();
    },
  };
}
