import type { SubmitJobInput } from "@atlasqueue/contract";
import { eventually, recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Database } from "../src/database/connect.ts";
import type { Deps } from "../src/deps.ts";
import { createFollowUps } from "../src/follow-ups.ts";
import { findJob } from "../src/jobs/find.ts";
import { createLongPoll, type LongPoll } from "../src/remote/long-poll.ts";
import type { LeaseCall, Line } from "../src/remote/waiters.ts";
import { announce } from "../src/signal/announce.ts";
import type { ReadyJob, Signal } from "../src/signal/signal.ts";
import { enqueue } from "../src/submit/enqueue.ts";

export const never: AbortSignal = new AbortController().signal;

export const call = (fields: Partial<LeaseCall> = {}): LeaseCall => ({
  tenant: "default",
  queue: "default",
  worker_id: "w",
  lease_seconds: 30,
  jobs_max: 1,
  wait_ms: 20_000,
  ...fields,
});

export const many = (count: number, request: Partial<SubmitJobInput> = {}) =>
  Array.from({ length: count }, () => request);

/**
 * Calls that wait for jobs, on a database for the file. Each test begins with `open`: empty tables, and a long poll on
 * this signal that is closed after the test.
 *
 * @example
 * const { open, waits, add } = longPollHarness();
 * beforeEach(() => open(memorySignal()));
 */
export function longPollHarness() {
  let own: TestDatabase;
  let deps: Deps & { signal: Signal };
  let longPoll: LongPoll;
  /** Of `waits`. */
  let unanswered = 0;
  const inLine = () => (longPoll.askedFor() as Line[]).reduce((sum, { waiters }) => sum + waiters.length, 0);
  const recorded = recordEvents();

  beforeAll(async () => {
    own = await testDatabase();
  });
  afterAll(() => own.drop());
  beforeEach(async () => {
    await own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.queues`;
    recorded.events.length = 0;
    unanswered = 0;
  });
  afterEach(async () => {
    await longPoll.close();
    await longPoll.released();
    await deps.signal.close();
  });

  /** Stored and not signalled. */
  const store = async (...requests: Partial<SubmitJobInput>[]): Promise<ReadyJob[]> => {
    const outcomes = await enqueue(
      deps,
      requests.map((request) => submission(request)),
      { idempotency_ttl_seconds: 60 },
    );
    return outcomes.map((outcome) => (outcome as { job: ReadyJob }).job);
  };
  return {
    open(signal: Signal, database: Database = own.database): void {
      deps = { database, observe: recorded.observe, signal };
      longPoll = createLongPoll({ ...deps, followUps: createFollowUps(deps) });
    },
    recorded,
    sql: () => own.database.sql,
    database: () => own.database,
    deps: () => deps,
    longPoll: () => longPoll,
    /** From now on what is sent for the default tenant waits for its turn, but for leases, until the result is called. */
    takeTurns(): () => void {
      const { rest } = own.database.turns;
      let taken = 0;
      while (rest.enter("default")) taken += 1;
      return () => {
        for (; taken > 0; taken -= 1) rest.leave("default");
      };
    },
    /** The jobs that a call gets. */
    leases: async (of: LeaseCall, hungUp: AbortSignal = never) => (await longPoll.lease(of, hungUp)).jobs,
    /** A waiting call, and what it has got so far. */
    waits(fields: Partial<LeaseCall> = {}, hungUp: AbortSignal = never) {
      const got: { ids?: string[] } = {};
      unanswered += 1;
      const answered = longPoll.lease(call(fields), hungUp).finally(() => (unanswered -= 1));
      const done = answered.then(({ jobs }) => (got.ids = jobs.map(({ id }) => id)));
      return { got, done };
    },
    store,
    async add(...requests: Partial<SubmitJobInput>[]): Promise<string[]> {
      const jobs = await store(...requests);
      await announce(deps, jobs);
      return jobs.map(({ id }) => id);
    },
    read: (id: string) => findJob(deps, "default", id),
    /**
     * Waits until the calls before it are in line: one that joins behind them learns of the line from the wait it
     * shares.
     */
    async turn(): Promise<void> {
      await eventually(() => expect(inLine()).toBeGreaterThanOrEqual(unanswered));
      for (let at = 0; at < 20; at += 1) await own.database.sql`SELECT`;
    },
  };
}
