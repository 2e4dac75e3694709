import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import type { Json, SubmitJobInput } from "@atlasqueue/contract";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { countDrift } from "../src/counts/drift.ts";
import type { Deps } from "../src/deps.ts";
import { findJob } from "../src/jobs/find.ts";
import { claim } from "../src/lease/claim.ts";
import type { Lease } from "../src/lease/lease.ts";
import { fail } from "../src/settle/fail.ts";
import { enqueue } from "../src/submit/enqueue.ts";
import { findJobSteps } from "../src/steps/find.ts";
import { sendSignal } from "../src/steps/signal.ts";

export const tenant = "default";
export const stranger = "01890000-0000-7000-8000-000000000000";
export const claimer = { tenant, queues: ["default"], worker_id: "w1", lease_seconds: 30 };

/**
 * A database of its own for a test file about steps, signals and parking, emptied before each test, and what to do with
 * jobs there.
 *
 * @example
 * const { deps, started, signal } = stepsHarness();
 */
export function stepsHarness() {
  let own: TestDatabase;
  let deps: Deps;
  const recorded = recordEvents();

  beforeAll(async () => {
    own = await testDatabase();
    deps = { database: own.database, observe: recorded.observe };
  });
  afterAll(() => own.drop());
  beforeEach(async () => {
    await own.database.sql`
      TRUNCATE jobs, lease_batches, job_attempts, job_groups, group_handovers, queues, queue_counts, queue_changes, unique_keys,
               job_steps, job_signals, job_waits`;
    recorded.events.length = 0;
  });

  const add = async (...requests: Partial<SubmitJobInput>[]): Promise<string[]> => {
    const submissions = requests.map((request) => submission(request));
    const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
    return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  };
  const take = async (id: string | undefined): Promise<Lease> => {
    const [lease] = await claim(deps, [id ?? ""], claimer);
    if (!lease) throw new Error(`${id} could not be claimed`);
    return lease;
  };
  const started = async (request: Partial<SubmitJobInput> = {}): Promise<Lease> => take((await add(request))[0]);
  const read = (id: string) => findJob(deps, tenant, id);
  const signal = (id: string, name = "go", payload: Json = null) => sendSignal(deps, tenant, id, name, payload);
  const stored = async (id: string) => (await findJobSteps(deps, tenant, id))?.steps.map(({ name }) => name);
  const timeIsOver = async (id: string): Promise<void> => {
    await own.database.sql`
      UPDATE jobs SET due_at = now() - interval '1 s', run_at = now() - interval '1 s' WHERE id = ${id} AND due_at > now()`;
    await own.database.sql`UPDATE job_waits SET until = now() - interval '1 s' WHERE job_id = ${id}`;
  };
  const die = (lease: Lease) =>
    fail(deps, [{ lease, error: "E: no", verdict: { kind: "dead", reason: "not_retryable" } }]);
  const counts = async () => expect((await countDrift(deps, 1_000)).drifted).toEqual([]);

  return {
    own: () => own,
    deps: () => deps,
    recorded,
    add,
    take,
    started,
    read,
    signal,
    stored,
    timeIsOver,
    die,
    counts,
  };
}
