import {
  brokenConnection,
  recordEvents,
  steppingDatabase,
  submission,
  testDatabase,
  type TestDatabase,
} from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { countDrift } from "../counts/drift.ts";
import { foldCounts } from "../counts/fold.ts";
import type { Deps } from "../deps.ts";
import { advanceFlows } from "../flows/advance.ts";
import type { FlowJob } from "../flows/flow.ts";
import { parentsOf } from "../flows/parents.ts";
import { viewFlow } from "../flows/show-flow.ts";
import { advanceGroups } from "../groups/advance.ts";
import { cancel } from "../jobs/cancel.ts";
import { findJob } from "../jobs/find.ts";
import { claim } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { complete } from "./complete.ts";
import { completeWithChildren, type Spawned } from "./complete-with-children.ts";
import { fail } from "./fail.ts";

let own: TestDatabase;
let deps: Deps;
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
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

const child = (ties: Partial<FlowJob> = {}, request: Parameters<typeof submission>[0] = {}): FlowJob => ({
  ...submission(request),
  ...ties,
});
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
const advance = async () => {
  await advanceFlows({ ...deps, signal: memorySignal(), followUps: { admitted: async () => {} } });
};
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

test("a job that was in no flow begins one, with its children behind it, and they are told its result", async () => {
  const lease = await take(await add());
  const [a, b] = await spawned(lease, [child({ ref: "a" }), child({ depends_on: ["a"] })]);
  if (!a || !b) throw new Error("no children");
  expect([await status(lease.id), await status(a), await status(b)]).toEqual(["succeeded", "queued", "blocked"]);
  const flow_id = (await job(lease.id))?.flow_id ?? "";
  expect([(await job(a))?.flow_id, (await job(b))?.flow_id]).toEqual([flow_id, flow_id]);
  const view = await viewFlow(deps, "default", flow_id);
  expect(view?.items.map(({ id, ref, depends_on }) => ({ id, ref, depends_on }))).toEqual([
    { id: lease.id, ref: null, depends_on: [] },
    { id: a, ref: "a", depends_on: [lease.id] },
    { id: b, ref: null, depends_on: [lease.id, a] },
  ]);
  const told = await parentsOf(deps, "default", [b]);
  expect(Object.entries(told.get(b)?.parents ?? {})).toEqual([
    [lease.id, { id: lease.id, status: "succeeded", result: { from: lease.id } }],
    ["a", { id: a, status: "queued", result: null }],
  ]);
  expect(await edges()).toEqual([[a, b, "cancel"]]);
  await succeed(a);
  await advance();
  expect(await status(b)).toBe("queued");
  await countsAreTrue();
});

test("the children of a job in a flow join it, behind those that are there, and two who add at once do not get the same places", async () => {
  const ids = Object.values(await addFlow(deps, { a: {}, b: {}, c: {}, sum: { after: ["a", "b", "c"] } }));
  const leases = await Promise.all(ids.slice(0, 3).map(take));
  await Promise.all(leases.map((lease) => spawned(lease, [child(), child()])));
  const view = await viewFlow(deps, "default", (await job(ids[0] ?? ""))?.flow_id ?? "");
  expect(view?.items).toHaveLength(10);
  expect(view?.items.slice(0, 4).map(({ id }) => id)).toEqual(ids);
  const places = await own.database.sql`SELECT place FROM flow_jobs ORDER BY place`;
  expect(places.map(({ place }) => place as number)).toEqual(Array.from({ length: 10 }, (_, at) => at));
});

test("those that wait for the job wait for its children too, if it says so, and start when the last of them is over", async () => {
  const { a, b, sum } = await addFlow(deps, { a: {}, b: {}, sum: { after: ["a", "b"], on_parent_failure: "run" } });
  const parts = await spawned(await take(a), [child(), child()], { dependants_wait: true });
  const [one = "", two = ""] = parts;
  await advance();
  await succeed(b);
  await succeed(one);
  await advance();
  expect(await status(sum)).toBe("blocked");
  expect(await edges()).toEqual([[two, sum, "run"]]);
  // Down the tree: a child's own children count as well.
  const [deeper = ""] = await spawned(await take(two), [child()], { dependants_wait: true });
  await advance();
  expect(await status(sum)).toBe("blocked");
  await fail(deps, [{ lease: await take(deeper), error: "x", verdict: { kind: "dead", reason: "not_retryable" } }]);
  await advance();
  expect(await status(sum)).toBe("queued");
  const parents = (await parentsOf(deps, "default", [sum])).get(sum);
  expect(Object.keys(parents?.parents ?? {})).toEqual(["a", "b", one, two, deeper]);
  expect(parents?.parent_counts).toEqual({ succeeded: 4, dead: 1 });
  await countsAreTrue();
});

test("those that wait for the job do not wait for its children unless it says so", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  await spawned(await take(a), [child()]);
  await advance();
  expect(await status(sum)).toBe("queued");
});

test("a child that fails cancels the dependant that waits for it, as the job itself would have", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const [part = ""] = await spawned(await take(a), [child()], { dependants_wait: true });
  await cancel(deps, "default", part);
  await advance();
  expect(await status(sum)).toBe("cancelled");
});

test("fifty that add at once to one fan-in are all waited for", async () => {
  const refs = Array.from({ length: 50 }, (_, at) => `p${at}`);
  const members = Object.fromEntries(refs.map((ref) => [ref, {}]));
  const { sum = "", ...parents } = await addFlow<string>(deps, { ...members, sum: { after: refs } });
  const leases = await Promise.all(Object.values(parents).map(take));
  const added: string[] = [];
  const until = async (lease: Lease): Promise<void> => {
    const outcome = await spawn(lease, [child()], { dependants_wait: true });
    if (outcome.kind === "locked") return until(lease);
    if (outcome.kind !== "applied") throw new Error(outcome.kind);
    added.push(...outcome.children.flatMap((one) => ("job" in one ? one.job.id : [])));
  };
  await Promise.all([...leases.map(until), advance(), advance()]);
  await advance();
  expect((await edges()).map(([parent]) => parent).toSorted()).toEqual(added.toSorted());
  for (const id of added.slice(1)) await succeed(id);
  await advance();
  expect(await status(sum)).toBe("blocked");
  await succeed(added[0] ?? "");
  await advance();
  expect(await status(sum)).toBe("queued");
  await countsAreTrue();
});

test("a chain of jobs that each add the next goes fifty deep, and what waits for the first waits for the last", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  let last = a;
  for (let depth = 0; depth < 50; depth += 1) {
    [last = ""] = await spawned(await take(last), [child()], { dependants_wait: true });
    await advance();
    expect(await status(sum)).toBe("blocked");
  }
  await succeed(last);
  await advance();
  expect(await status(sum)).toBe("queued");
  await countsAreTrue();
});

test("under a lease that was lost nothing is stored", async () => {
  const lease = await take(await add());
  await own.database.sql`UPDATE jobs SET lease_token = gen_random_uuid() WHERE id = ${lease.id}`;
  expect(await spawn(lease, [child()])).toEqual({ kind: "lease_lost" });
  await cancel(deps, "default", lease.id);
  expect(await spawn(lease, [child()])).toEqual({ kind: "lease_lost" });
  expect(await jobs()).toBe(1);
});

test("the same again, one after the other or ten at once, is answered alike and adds its children once", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const lease = await take(a);
  const once = () => spawn(lease, [child(), child()], { dependants_wait: true });
  const outcomes = await Promise.all(Array.from({ length: 10 }, once));
  const settled = [...outcomes.filter(({ kind }) => kind !== "locked"), await once()];
  for (const outcome of settled) expect(outcome).toMatchObject({ kind: "applied", has_children: true });
  expect(settled.filter((one) => one.kind === "applied" && one.children.length > 0)).toHaveLength(1);
  expect(await jobs()).toBe(4);
  await advance();
  expect((await edges()).map(([, of]) => of)).toEqual([sum, sum]);
  await countsAreTrue();
});

test("wherever its connection breaks, all of it is stored or nothing, and the same again completes it", async () => {
  for (let broken_at = 1, steps = Infinity; broken_at <= steps; broken_at += 1) {
    const group = `g${broken_at}`;
    const { a, sum } = await addFlow(deps, { a: { group }, sum: { after: ["a"] } });
    const before = await jobs();
    const lease = await take(a);
    let broken = false;
    const database = steppingDatabase(deps.database, (_step, number) => {
      if (number !== broken_at) return;
      broken = true;
      throw brokenConnection();
    });
    const children = [child({ ref: "x" }), child({}, { group })];
    await spawn(lease, children, { dependants_wait: true, database }).catch(() => {});
    expect([before, before + 2]).toContain(await jobs());
    expect(await status(a)).toBe((await jobs()) === before ? "running" : "succeeded");
    expect(await spawn(lease, children, { dependants_wait: true })).toMatchObject({ kind: "applied" });
    expect([await status(a), await jobs()]).toEqual(["succeeded", before + 2]);
    expect((await edges()).filter(([, of]) => of === sum)).toHaveLength(3);
    if (!broken) {
      expect(broken_at).toBeGreaterThan(8);
      steps = broken_at;
    }
  }
  await countsAreTrue();
});

test("while it is written, the dependants are neither released nor cancelled; no one waits for it", async () => {
  const { a, b, sum } = await addFlow(deps, { a: {}, b: {}, sum: { after: ["a", "b"] } });
  const lease = await take(a);
  await succeed(b);
  const database = steppingDatabase(deps.database, async () => {
    await advance();
    expect(["running", "succeeded"]).toContain(await status(a));
    expect(await status(sum)).toBe("blocked");
  });
  const outcome = await spawn(lease, [child()], { dependants_wait: true, database });
  expect(outcome.kind).toBe("applied");
  await advance();
  expect(await status(sum)).toBe("blocked");
  expect(await edges()).toHaveLength(1);
});

test("a child that is refused takes all with it, and the job still runs under its lease", async () => {
  const held = await add({ unique: { key: "k", scope: "active", on_conflict: "reject" } });
  const lease = await take(await add());
  const before = await jobs();
  const unique = { key: "k", scope: "active", on_conflict: "reject" } as const;
  expect(await spawn(lease, [child(), child({}, { unique })])).toEqual({
    kind: "refused",
    refusal: { kind: "conflict", places: [{ at: 1, job_id: held }] },
  });
  const nobody = "01920000-0000-7000-8000-000000000000";
  expect(await spawn(lease, [child({ depends_on: [nobody] })])).toEqual({
    kind: "refused",
    refusal: { kind: "unknown_parents", places: [{ at: 0, nth: 0, id: nobody }] },
  });
  expect([await jobs(), await status(lease.id)]).toEqual([before, "running"]);
  expect(await own.database.sql`SELECT FROM flow_jobs`).toHaveLength(0);
  expect(await own.database.sql`SELECT FROM flows`).toHaveLength(0);
  await countsAreTrue();
  await cancel(deps, "default", held);
  expect(await spawned(lease, [child({}, { unique })])).toHaveLength(1);
});

test("dependants that would wait for too many are refused", async () => {
  const refs = Array.from({ length: 101 }, (_, at) => `s${at}`);
  const { a = "" } = await addFlow<string>(deps, {
    a: {},
    ...Object.fromEntries(refs.map((ref) => [ref, { after: ["a"] }])),
  });
  const lease = await take(a);
  const children = Array.from({ length: 100 }, () => child());
  expect(await spawn(lease, children, { dependants_wait: true })).toEqual({
    kind: "refused",
    refusal: { kind: "too_many_waits", dependants: 101 },
  });
  expect(await spawned(lease, children.slice(1), { dependants_wait: true })).toHaveLength(99);
  expect(await edges()).toHaveLength(100 * 101);
});

test("a child may wait for jobs that exist, and naming the job that adds it changes nothing", async () => {
  const other = await add();
  const lease = await take(await add());
  const [waits = "", free = ""] = await spawned(lease, [
    child({ depends_on: [other, lease.id] }),
    child({ depends_on: [lease.id] }),
  ]);
  expect([await status(waits), await status(free)]).toEqual(["blocked", "queued"]);
  await advance();
  await succeed(other);
  await advance();
  expect(await status(waits)).toBe("queued");
});

test("children in the group of the job have their turn when it is settled, in their order", async () => {
  const lease = await take(await add({ group: "g" }));
  const [first = "", second = ""] = await spawned(lease, [child({}, { group: "g" }), child({}, { group: "g" })]);
  expect([await status(first), await status(second)]).toEqual(["blocked", "blocked"]);
  await advanceGroups(deps, 100);
  expect([await status(first), await status(second)]).toEqual(["queued", "blocked"]);
  await countsAreTrue();
});

test("a row that a stranger has locked is reported as locked, and nothing is stored", async () => {
  const { a, sum } = await addFlow(deps, { a: {}, sum: { after: ["a"] } });
  const lease = await take(a);
  for (const row of [a, sum])
    await own.database.sql.begin(async (tx) => {
      await tx`SELECT FROM jobs WHERE id = ${row} FOR UPDATE`;
      expect(await spawn(lease, [child()], { dependants_wait: true })).toEqual({ kind: "locked" });
    });
  expect([await jobs(), await status(a)]).toEqual([2, "running"]);
});
