import type { SubmitJobInput } from "@atlasqueue/contract";
import { createLogger, memorySignal, redisSignal, type Signal } from "@atlasqueue/core";
import { findJob, type JobRow } from "@atlasqueue/core/internal/http";
import {
  eventually,
  recordEvents,
  redisUrl,
  submission,
  testDatabase,
  uniqueKeys,
  type TestDatabase,
  submit,
} from "@atlasqueue/harness";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { WorkerDeps } from "../src/deps.ts";
import type { Handler } from "../src/handler.ts";
import { startWorker, type Worker, type WorkerConfig } from "../src/start-worker.ts";

export const drivers: Record<string, () => Signal> = {
  redis: () => {
    const { jobsKey, dlqKey } = uniqueKeys();
    return redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 });
  },
  memory: () => memorySignal(),
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
    named: (name: Parameters<typeof recorded.named>[0]) => recorded.named(name),
    work(handlers: Handler[], config: Partial<WorkerConfig> = {}): Worker {
      const worker = startWorker(deps(), { handlers, backoff, ...config });
      workers.push(worker);
      return worker;
    },
    async add(...requests: Partial<SubmitJobInput>[]): Promise<string[]> {
      const submissions = requests.map((request) => submission(request));
      const outcomes = await submit(deps(), submissions, { idempotency_ttl_seconds: 60 });
      return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
    },
    becomes: (id: string | undefined, job: Partial<JobRow>) =>
      eventually(async () => expect(await read(id)).toMatchObject(job)),
  };
}
