import { queueLimits, type QueueLimitsInput, type SubmitJobInput } from "@atlasqueue/contract";
import { eventually, ownSignal, recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import type { TransactionSql } from "postgres";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { uuidArray } from "../src/database/literals.ts";
import type { Deps } from "../src/deps.ts";
import { findJob } from "../src/jobs/find.ts";
import { claim } from "../src/lease/claim.ts";
import type { Claimer, Lease } from "../src/lease/lease.ts";
import { setLimits } from "../src/limits/set.ts";
import { complete, fail } from "../src/settle/settle.ts";
import type { Signal } from "../src/signal/signal.ts";
import { enqueue } from "../src/submit/enqueue.ts";

export const tenant = "default";
/** Of a queue that needs no name. */
export const main = { tenant, queue: "default" };
/** All of them succeed, without a result. */
export const completeAll = (deps: Deps, leases: readonly Lease[]) =>
  complete(
    deps,
    leases.map((lease) => ({ lease, result: null })),
  );
export const claimer: Claimer = { tenant, queues: ["default", "free"], worker_id: "w1", lease_seconds: 30 };

/**
 * A database of its own for a test file, emptied before each test, a signal, and what most tests do
 * to jobs there. `job` is what all of them have in common. `deps` is complete once the first test begins.
 *
 * @example
 * const { deps, add, take, finish } = engineHarness({ group: "g" });
 * test("…", async () => { const [a, b] = await add({}, { payload: { n: 2 } }); await finish(a); });
 */
export function engineHarness(job: Partial<SubmitJobInput> = {}) {
  const recorded = recordEvents();
  const deps = { observe: recorded.observe } as Deps & { signal: Signal };
  let own: TestDatabase;

  beforeAll(async () => {
    own = await testDatabase();
    deps.database = own.database;
  });
  afterAll(async () => {
    await deps.signal.close();
    await own.drop();
  });
  beforeEach(async () => {
    // A statement that the last test gave up may still be under way, and takes the tables in another order: a deadlock.
    await eventually(
      () => deps.database.sql`
        TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.idempotency_keys, atlasqueue.job_groups,
                 atlasqueue.job_state, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox,
                 atlasqueue.queues, atlasqueue.queue_starts, atlasqueue.queue_counts, atlasqueue.queue_changes`,
    );
    recorded.events.length = 0;
    await (deps.signal as Signal | undefined)?.close();
    deps.signal = ownSignal();
  });

  const add = async (...requests: Partial<SubmitJobInput>[]): Promise<string[]> => {
    const submissions = requests.map((request) => submission({ ...job, ...request }));
    const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
    return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  };
  const take = async (id: string | undefined): Promise<Lease> => {
    const [lease] = await claim(deps, [id ?? ""], claimer);
    if (!lease) throw new Error(`${id} could not be claimed`);
    return lease;
  };
  /** Does something while another transaction holds what it has locked; that is rolled back then. */
  const besideLock = async <T>(lock: (sql: TransactionSql) => Promise<unknown>, work: () => Promise<T>): Promise<T> => {
    const undone = new Error("undone");
    let done: T | undefined;
    const stranger = deps.database.sql.begin(async (sql) => {
      await lock(sql);
      done = await work();
      throw undone;
    });
    await expect(stranger).rejects.toBe(undone);
    return done as T;
  };
  const read = (id: string | undefined) => findJob(deps, tenant, id ?? "");
  const status = async (id: string | undefined) => (await read(id))?.status;
  return {
    deps,
    recorded,
    url: () => own.url,
    /** Returns their ids. Stored, not signalled. */
    add,
    /** Like jobs, in one submission. */
    addMany: (count: number, request: Partial<SubmitJobInput> = {}) =>
      add(...Array.from({ length: count }, () => request)),
    take,
    /** queued → running → succeeded. */
    finish: async (id: string | undefined) => complete(deps, [{ lease: await take(id), result: null }]),
    /** queued → running → dead. */
    die: async (id: string | undefined) =>
      fail(deps, [{ lease: await take(id), error: "x", verdict: { kind: "dead", reason: "not_retryable" } }]),
    read,
    status,
    statuses: (...ids: (string | undefined)[]) => Promise.all(ids.map(status)),
    /** Sets these limits of a queue, and removes its others. */
    limit: (limits: QueueLimitsInput, queue = main.queue) =>
      setLimits(deps, { tenant, queue }, queueLimits.parse(limits)),
    /** Does something while another transaction has these jobs locked, and returns the result. */
    besideStranger: <T>(ids: readonly (string | undefined)[], work: () => Promise<T>): Promise<T> =>
      besideLock(
        (stranger) => stranger`
          SELECT FROM atlasqueue.jobs WHERE id = ANY(${uuidArray(ids.map((id) => id ?? ""))}::text::uuid[]) FOR UPDATE`,
        work,
      ),
    besideLock,
    /** Its lease has just ended. */
    async expire(id: string): Promise<void> {
      const { sql } = deps.database;
      await sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 ms' WHERE id = ${id}`;
      await sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 ms' WHERE ${id}::uuid = ANY(job_ids)`;
    },
  };
}
