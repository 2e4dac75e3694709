import { eventually, recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { advanceAndAdmit, closeEdges, releaseChildren } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { connectDatabase } from "../database/connect.ts";
import { cancel } from "../jobs/cancel.ts";
import { retry } from "../jobs/retry.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import { fail } from "../settle/fail.ts";
import { createSubmitter } from "../submit/submitter.ts";
import type { FlowJob } from "./flow.ts";
import { underOneKey } from "./under-one-key.ts";

let own: TestDatabase;
let deps: { database: ReturnType<typeof connectDatabase>; observe: ReturnType<typeof recordEvents>["observe"] };
let second: ReturnType<typeof connectDatabase>;
beforeAll(async () => {
  own = await testDatabase();
  deps = {
    database: connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 2_000 }),
    observe: recordEvents().observe,
  };
  second = connectDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 60_000 });
});
afterAll(async () => {
  await deps.database.close();
  await second.close();
  await own.drop();
});
beforeEach(async () => {
  await own.database.sql`
    TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.job_groups, atlasqueue.queue_counts, atlasqueue.queue_changes,
             atlasqueue.flows, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox, atlasqueue.idempotency_keys`;
});
const options = { idempotency_ttl_seconds: 60 };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
const take = async (id: string) => {
  const [lease] = await claim(deps, [id], claimer);
  if (!lease) throw new Error(`${id} could not be claimed`);
  return lease;
};
const succeed = async (id: string) => complete(deps, [{ lease: await take(id), result: null }]);
const die = async (id: string) =>
  fail(deps, [{ lease: await take(id), error: "x", verdict: { kind: "dead", reason: "not_retryable" } }]);
const advance = () => advanceAndAdmit(deps);
const statusOf = async (id: string) =>
  (await own.database.sql`SELECT status FROM atlasqueue.jobs WHERE id = ${id}`)[0]?.status as string;
const job = (ties: Partial<FlowJob> = {}, request = {}): FlowJob => ({ ...submission(request), ...ties });
const newSubmitter = () =>
  createSubmitter({ ...deps, followUps: { submitted: () => {}, drain: async () => {} } }, options);
const beside = async (lock: (sql: typeof second.sql) => Promise<unknown>, during: () => Promise<void>) => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  let begun = () => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const open = second.sql.begin(async (sql) => {
    await lock(sql as never);
    begun();
    await ended;
  });
  await started;
  try {
    await during();
  } finally {
    end();
    await open;
  }
};

test("two flows of different sizes under one key in one batch: one is stored, of the other nothing", async () => {
  const submitter = newSubmitter();
  const small = underOneKey({ jobs: [job({ ref: "a" }), job({ depends_on: ["a"] })] }, "k");
  const large = underOneKey({ jobs: [job({ ref: "a" }), job({ depends_on: ["a"] }), job({}, { type: "extra" })] }, "k");
  const both = await Promise.allSettled([submitter.submitFlow(small), submitter.submitFlow(large)]);
  await submitter.close();
  const kinds = both.map((one) => (one.status === "fulfilled" ? one.value.kind : String(one.reason)));
  expect(kinds).toEqual(["stored", "mismatch"]);
  expect((await own.database.sql`SELECT type FROM atlasqueue.jobs`).length).toBe(2);
});

test("a flow under one key, sent to several processes at once, is stored once and answered to all", async () => {
  for (let nth = 0; nth < 20; nth += 1) {
    const flow = underOneKey({ jobs: [job({ ref: "a" }), job({ depends_on: ["a"] })] }, `k${nth}`);
    const submitters = [newSubmitter(), newSubmitter(), newSubmitter(), newSubmitter()];
    const all = await Promise.allSettled(submitters.map((one) => one.submitFlow(flow)));
    await Promise.all(submitters.map((one) => one.close()));
    const kinds = all.map((one) => (one.status === "fulfilled" ? one.value.kind : String(one.reason)));
    expect(kinds).toEqual(["stored", "stored", "stored", "stored"]);
  }
});

test("a stranger holds a child's row of flow_jobs: others' children are released", async () => {
  const held = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  const free = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await die(held.a);
  await succeed(free.a);
  await beside(
    (sql) => sql`SELECT FROM atlasqueue.flow_jobs WHERE job_id = ${held.b} FOR UPDATE`,
    async () => {
      for (let nth = 0; nth < 2; nth += 1) await advance();
      expect(await statusOf(free.b)).toBe("queued");
    },
  );
});

test("a stranger holds a row of the outbox: others' children are released", async () => {
  const held = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  const free = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await succeed(held.a);
  await succeed(free.a);
  await beside(
    (sql) => sql`SELECT FROM atlasqueue.outbox WHERE key = ${held.a} FOR UPDATE`,
    async () => {
      for (let nth = 0; nth < 2; nth += 1) await advance();
      expect(await statusOf(free.b)).toBe("queued");
    },
  );
});

test("a stranger holds a group: children of others are released meanwhile, those in groups too", async () => {
  const flow = (group: string) => addFlow(deps, { a: {}, b: { after: ["a"], group }, c: { after: ["a"] } });
  // A row of its own, which a stranger can hold.
  await addFlow(deps, { one: { group: "held" }, two: { group: "free" } });
  const [held, free] = [await flow("held"), await flow("free")];
  for (const { a } of [held, free]) await succeed(a);
  // Nothing that waits for the stranger would be over before the test is.
  const patient = { ...deps, database: second };
  const pending = async () =>
    (await own.database.sql`SELECT key FROM atlasqueue.outbox`).map(({ key }) => key as string);
  await beside(
    (sql) => sql`SELECT FROM atlasqueue.job_groups WHERE group_key = 'held' FOR UPDATE`,
    async () => {
      await advanceAndAdmit(patient);
      expect(await statusOf(free.c)).toBe("queued");
      expect(await pending()).toEqual([held.b]);
      const late = await flow("free");
      await succeed(late.a);
      await advanceAndAdmit(patient);
      expect(await pending()).toEqual([held.b]);
    },
  );
  await eventually(async () => {
    await advanceAndAdmit(patient);
    expect(await pending()).toEqual([]);
  });
});

test("a stranger holds 500 edges: others' children are released", async () => {
  const names = Array.from(
    { length: 500 },
    (_, at) =>
      [
        [`a${at}`, {}],
        [`b${at}`, { after: [`a${at}`] }],
      ] as const,
  ).flat();
  await addFlow(deps, Object.fromEntries(names));
  const free = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await own.database
    .sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now() WHERE status = 'queued' AND id <> ${free.a}`;
  await own.database
    .sql`INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT DISTINCT 'parent_ended', 'default', parent::text FROM atlasqueue.flow_edges WHERE parent <> ${free.a}`;
  await succeed(free.a);
  await beside(
    (sql) => sql`SELECT FROM atlasqueue.flow_edges WHERE parent <> ${free.a} FOR UPDATE`,
    async () => {
      for (let nth = 0; nth < 5; nth += 1) await advance();
      expect(await statusOf(free.b)).toBe("queued");
    },
  );
});

test("of a tenant with 500 parents that ended, each with 100 children, and another one, the other's child does not wait for all of these", async () => {
  const { sql } = own.database;
  const submitter = newSubmitter();
  for (let nth = 0; nth < 10; nth += 1) {
    const roots = Array.from({ length: 50 }, (_, at) => job({ ref: `r${at}` }));
    const children = Array.from({ length: 100 }, () => job({ depends_on: roots.map(({ ref }) => ref ?? "") }));
    const out = await submitter.submitFlow({ jobs: [...roots, ...children] });
    if (out.kind !== "stored") throw new Error(JSON.stringify(out));
  }
  await sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now() WHERE status = 'queued'`;
  await sql`INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT DISTINCT 'parent_ended', 'default', parent::text FROM atlasqueue.flow_edges`;
  const free = await submitter.submitFlow({
    jobs: [
      { ...job({ ref: "a" }), tenant: "other" },
      { ...job({ depends_on: ["a"] }), tenant: "other" },
    ],
  });
  await submitter.close();
  if (free.kind !== "stored") throw new Error("refused");
  const [a, b] = free.outcomes.map((o) => ("job" in o ? o.job.id : ""));
  const [lease] = await claim(deps, [a ?? ""], { ...claimer, tenant: "other" });
  if (!lease) throw new Error("unclaimed");
  await complete(deps, [{ lease, result: null }]);
  let rounds = 0;
  while ((await statusOf(b ?? "")) === "blocked" && rounds < 2_000) {
    rounds += 1;
    await closeEdges(deps, 500);
    await releaseChildren(deps, 500);
  }
  expect(rounds).toBeLessThan(5);
});

test("a job retried by a person before it comes back with its parent is that person's from then on", async () => {
  const { p, c } = await addFlow(deps, { p: {}, c: { after: ["p"] } });
  await die(p);
  await advance();
  expect(await statusOf(c)).toBe("cancelled");
  await retry(deps, "default", p);
  await succeed(p);
  await closeEdges(deps, 500);
  await retry(deps, "default", c);
  await advance();
  await cancel(deps, "default", c);
  expect(
    (await own.database.sql`SELECT cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = ${c}`)[0]?.cancelled_by,
  ).toBe(null);
});
