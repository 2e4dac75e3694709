import { randomBytes } from "node:crypto";
import { connectDatabase, createLogger, createQueue, redisSignal, type Database, type Signal } from "@atlasqueue/core";
import { type Deps, createFollowUps } from "@atlasqueue/core/internal";
import { createLongPoll, createSubmitter } from "@atlasqueue/core/internal/http";
import { startWorker } from "@atlasqueue/worker";
import postgres from "postgres";
import { storyHandlers } from "./handlers.ts";
import { withPoints, type Reach } from "./ports.ts";

/** Where a story takes place: a database and names in Redis of its own. Passed to the process that is to die. */
export type Place = { database_url: string; redis_url: string; keys: { jobs: string; deadLetters: string } };

/** How long leases last, and how long the longest of the jobs. */
export type Pace = { lease_seconds: number; long_ms: number };

export type World = ReturnType<typeof openWorld>;

const backoff = { baseSeconds: 0.02, maxSeconds: 0.05, jitterMaxSeconds: 0.01 };
const key_ttl_seconds = 3_600;

/**
 * All of the engine in one process: what an API does for clients and remote workers, and a worker with its sweep.
 * `reach` is called at each point of it.
 */
export function openWorld(place: Place, { lease_seconds, long_ms, reach }: Pace & { reach?: Reach }) {
  const database = connectDatabase({ url: place.database_url, connectionsMax: 4, timeoutMs: 15_000 });
  const signal = redisSignal({ url: place.redis_url, keys: place.keys, timeoutMs: 5_000 });
  const bare = { database, signal };
  const ports: { database: Database; signal: Signal } = reach ? withPoints(bare, reach) : bare;
  const sql = postgres(place.database_url, { max: 3, onnotice: () => {} });
  const logger = createLogger("silent", "crash-points");
  const deps: Deps & { signal: Signal } = { ...ports, observe: () => {} };
  const followUps = createFollowUps(deps);
  const options = { idempotency_ttl_seconds: key_ttl_seconds };
  const longPoll = createLongPoll({ ...deps, followUps });
  /** For jobs in a caller's own transaction, with a connection of its own. */
  const queue = createQueue({ databaseUrl: place.database_url, connectionsMax: 1 });
  const worker_id = `w-${process.pid}-${randomBytes(3).toString("hex")}`;
  const worker = startWorker(
    { ...deps, logger },
    {
      handlers: storyHandlers(sql),
      queues: ["default", "narrow"],
      workerId: worker_id,
      leaseSeconds: lease_seconds,
      pollTimeoutSeconds: 1,
      backoff,
    },
  );
  return {
    sql,
    deps,
    /** Without points: for looking. */
    bare: { ...bare, observe: () => {} },
    queue,
    followUps,
    longPoll,
    backoff,
    lease_seconds,
    long_ms,
    submitter: createSubmitter({ ...deps, followUps }, options),
    async close(): Promise<void> {
      await longPoll.close();
      await worker.stop({ deadlineMs: 0 });
      await longPoll.released();
      await followUps.stop();
      await Promise.all([database.close(), signal.close(), queue.close(), sql.end({ timeout: 1 })]);
    },
  };
}
