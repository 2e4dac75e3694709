import { createQueue, type Queue } from "@atlasqueue/core";

const kept = globalThis as { queue?: Queue };

/** One for each process, also when the development server reloads this module. Nothing connects before its first job. */
export function queue(): Queue {
  const { DATABASE_URL: databaseUrl = "", REDIS_URL: redisUrl } = process.env;
  return (kept.queue ??= createQueue({ databaseUrl, redisUrl, connectionsMax: 2 }));
}
