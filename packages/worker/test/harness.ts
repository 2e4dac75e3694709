import type { SubmitJobInput } from "@atlasqueue/contract";
import { createLogger, memorySignal, redisSignal, type Signal } from "@atlasqueue/core";
import { findJob, type JobRow } from "@atlasqueue/core/internal/http";
import { enqueue } from "@atlasqueue/core/internal/tools";
import { claim, type Claimer } from "@atlasqueue/core/internal/worker";
import {
  eventually,
  ownRedis,
  recordEvents,
  redisUrl,
  submission,
  testDatabase,
  uniqueKeys,
  type TestDatabase,
  submit,
} from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { WorkerDeps } from "../src/deps.ts";
import { defineHandler, type Handler } from "../src/handler.ts";
import { startWorker, type Worker, type WorkerConfig } from "../src/start-worker.ts";

export const any = z.looseObject({});
export const noop = defineHandler("noop", any, () => "done");
/** The queue of most jobs here. */
export const main = { tenant: "default", queue: "default" };

export const drivers = {
  redis: () => {
    const { jobsKey, dlqKey } = uniqueKeys();
    return redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 });
  },
  memory: () => memorySignal(),
} satisfies Record<string, () => Signal>;

/** One that works, and one that nobody reaches. */
export const signals = {
  redis: drivers.redis,
  "Redis away": () =>
    redisSignal({ url: "redis://127.0.0.1:1", keys: { jobs: "jobs", deadLetters: "dlq" }, timeoutMs: 50 }),
};

/** A promise a test resolves when it likes. */
export function gate(): { open(): void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

/** Workers on the test file's own database; after each test they are stopped and the tables emptied. */
export function workerHarness() {
  const logger = createLogger("silent", "test");
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  const workers: Worker[] = [];
  let own: TestDatabase;
  let signal: Signal = memorySignal();
  let recorded = recordEvents();

  beforeAll(async () => {
    own = await testDatabase();
  });
  afterAll(() => own.drop());
  beforeEach(() => {
    recorded = recordEvents();
    signal = memorySignal();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ deadlineMs: 0 })));
    await signal.close();
    await own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts`;
  });

  const deps = (): WorkerDeps => ({ database: own.database, observe: recorded.observe, signal, logger });
  const read = (id: string | undefined) => findJob(deps(), "default", id ?? "");
  return {
    deps,
    read,
    sql: () => own.database.sql,
    url: () => own.url,
    signal: () => signal,
    useSignal: (open: () => Signal) => void (signal = open()),
    /** Signals through a Redis that is the test's alone. */
    async useOwnRedis(): Promise<Redis> {
      const server = await ownRedis();
      const redis = new Redis(server.url);
      onTestFinished(async () => {
        redis.disconnect();
        await server.stop();
      });
      signal = redisSignal({ url: server.url, keys: { jobs: "jobs", deadLetters: "dlq" } });
      return redis;
    },
    named: (name: Parameters<typeof recorded.named>[0]) => recorded.named(name),
    work(handlers: Handler[], config: Partial<WorkerConfig> = {}, others: Partial<WorkerDeps> = {}): Worker {
      const worker = startWorker({ ...deps(), ...others }, { handlers, backoff, ...config });
      workers.push(worker);
      return worker;
    },
    async add(...requests: (Partial<SubmitJobInput> & { tenant?: string })[]): Promise<string[]> {
      const submissions = requests.map(({ tenant = "default", ...request }) => ({ ...submission(request), tenant }));
      const outcomes = await submit(deps(), submissions, { idempotency_ttl_seconds: 60 });
      return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
    },
    /** A job in each queue that is stored, though no signal of it reached anyone. */
    async lose(tenant: string, queues: readonly string[]): Promise<void> {
      for (let at = 0; at < queues.length; at += 500) {
        const part = queues.slice(at, at + 500).map((queue) => ({ ...submission({ queue }), tenant }));
        await enqueue(deps(), part, { idempotency_ttl_seconds: 60 });
      }
      // Past the time in which a signal may still be on its way.
      await own.database.sql`
        UPDATE atlasqueue.jobs SET updated_at = updated_at - interval '1 minute' WHERE tenant = ${tenant}`;
    },
    /** By one that is heard of no more. */
    claim: (ids: string[], wish: Partial<Claimer> = {}) =>
      claim(deps(), ids, { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30, ...wish }),
    /** The time of every lease is over. */
    async endLeases(): Promise<void> {
      await own.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running'`;
      await own.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
    },
    becomes: (id: string | undefined, job: Partial<JobRow>) =>
      eventually(async () => expect(await read(id)).toMatchObject(job)),
  };
}
