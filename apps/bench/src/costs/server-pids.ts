import { Redis } from "ioredis";
import type { Sql } from "postgres";
import { parentOf } from "./process-usage.ts";

/** PostgreSQL's first process, which starts all others. Undefined where there is no /proc. */
export async function postmasterPid(sql: Sql): Promise<number | undefined> {
  const [backend] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  return backend && parentOf(backend.pid);
}

export async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1]);
  } finally {
    redis.disconnect();
  }
}
