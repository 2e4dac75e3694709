import { eventually, forFile, recordEvents, submission, testDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { advanceAndAdmit, closeEdges } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { connectDatabase } from "../database/connect.ts";
import { cancel } from "../jobs/cancel.ts";
import { retry } from "../jobs/retry.ts";
import { claim } from "../lease/claim.ts";
import { complete, fail } from "../settle/settle.ts";
import { createSubmitter } from "../submit/submitter.ts";
import { type FlowJob, underOneKey } from "./flow.ts";

const own = forFile(testDatabase);
let deps: { database: ReturnType<typeof connectDatabase>; observe: ReturnType<typeof recordEvents>["observe"] };
let second: ReturnType<typeof connectDatabase>;
beforeAll(async () => {
  deps = {
    database: connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 2_000 }),
    observe: recordEvents().observe,
  };
  second = connectDatabase({ url: own.url, connectionsMax: 4, timeoutMs: 60_000 });
});
afterAll(async () => {
  await deps.database.close();
  await second.close();
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
