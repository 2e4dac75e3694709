import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { countDrift } from "../src/counts/drift.ts";
import { foldCounts } from "../src/counts/fold.ts";
import type { Deps } from "../src/deps.ts";
import type { FlowJob } from "../src/flows/flow.ts";
import { findJob } from "../src/jobs/find.ts";
import { claim } from "../src/lease/claim.ts";
import type { Lease } from "../src/lease/lease.ts";
import { complete } from "../src/settle/complete.ts";
import { completeWithChildren, type Spawned } from "../src/settle/complete-with-children.ts";
import { enqueue } from "../src/submit/enqueue.ts";
import { advanceAndAdmit } from "./advance.ts";

const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
const child = (ties: Partial<FlowJob> = {}, request: Parameters<typeof submission>[0] = {}): FlowJob => ({
  ...submission(request),
  ...ties,
});
/**
 * A database of its own for a test file about jobs that add others, emptied before each test, and what to do with them.
 *
 * @example
 * const { add, child, spawn, take } = spawnHarness();
 */
export function spawnHarness() {
  let own: TestDatabase;
  let deps: Deps;
  beforeAll(async () => {
    own = await testDatabase();
    deps = { database: own.database, observe: recordEvents().observe };
  });
  afterAll(() => own.drop());
  beforeEach(
    () =>
      own.database.sql`
        TRUNCATE jobs, unique_keys, lease_batches, job_attempts, arrivals, job_groups, group_handovers, queue_counts,
                 queue_changes, flows, flow_jobs, flow_edges, flow_notes`,
  );

  const add = async (request: Parameters<typeof submission>[0] = {}): Promise<string> => {
    const [outcome] = await enqueue(deps, [submission(request)], { idempotency_ttl_seconds: 60 });
    return outcome && "job" in outcome ? outcome.job.id : "";
  };
  const take = async (id: string) => {
    const [lease] = await claim(deps, [id], claimer);
    if (!lease) throw new Error(`${id} could not be claimed`);
    return lease;
  };
  const spawn = (lease: Lease, children: FlowJob[], more: Partial<Spawned> & { database?: Deps["database"] } = {}) =>
    completeWithChildren(
      { ...deps, database: more.database ?? deps.database },
      { lease, result: { from: lease.id } },
      { children, dependants_wait: more.dependants_wait ?? false },
    );
  const spawned = async (lease: Lease, children: FlowJob[], more: Partial<Spawned> = {}): Promise<string[]> => {
    const outcome = await spawn(lease, children, more);
    if (outcome.kind !== "applied") throw new Error(`not applied: ${JSON.stringify(outcome)}`);
    return outcome.children.flatMap((one) => ("job" in one ? one.job.id : []));
  };
  const succeed = async (id: string) => complete(deps, [{ lease: await take(id), result: null }]);
  const advance = async () => void (await advanceAndAdmit(deps));
  const job = async (id: string) => await findJob(deps, "default", id);
  const status = async (id: string) => (await job(id))?.status;
  const jobs = async () => (await own.database.sql`SELECT FROM jobs`).length;
  const edges = async () => {
    const rows = await own.database.sql`SELECT parent, child, on_parent_failure FROM flow_edges ORDER BY child, parent`;
    return rows.map(({ parent, child: of, on_parent_failure }) => [parent, of, on_parent_failure] as string[]);
  };
  const countsAreTrue = async () => {
    while ((await foldCounts(deps, 1_000)) > 0);
    expect((await countDrift(deps, 10_000)).drifted).toEqual([]);
  };

  return {
    deps: () => deps,
    own: () => own,
    child,
    add,
    take,
    spawn,
    spawned,
    succeed,
    advance,
    job,
    status,
    jobs,
    edges,
    countsAreTrue,
  };
}
