import { eventually, forFile, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { advanceAndAdmit, closeEdges } from "../../test/advance.ts";
import { addFlow } from "../../test/add-flow.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { connectDatabase } from "../database/connect.ts";
import { createSubmitter } from "../submit/submitter.ts";
import { type FlowJob, underOneKey } from "./flow.ts";
import { cancel } from "../jobs/cancel.ts";
import { retry } from "../jobs/retry.ts";

const { deps, url, finish, status, die } = engineHarness();
const advance = () => advanceAndAdmit(deps);
const second = forFile(async () => connectDatabase({ url: url(), connectionsMax: 4, timeoutMs: 60_000 }));
const job = (ties: Partial<FlowJob> = {}, request = {}): FlowJob => ({ ...submission(request), ...ties });
const options = { idempotency_ttl_seconds: 60 };
const newSubmitter = () =>
  createSubmitter({ ...deps, followUps: { submitted: () => {}, drain: async () => {} } }, options);

test("two flows of different sizes under one key in one batch: one is stored, of the other nothing", async () => {
  const submitter = newSubmitter();
  const small = underOneKey({ jobs: [job({ ref: "a" }), job({ depends_on: ["a"] })] }, "k");
  const large = underOneKey({ jobs: [job({ ref: "a" }), job({ depends_on: ["a"] }), job({}, { type: "extra" })] }, "k");
  const both = await Promise.allSettled([submitter.submitFlow(small), submitter.submitFlow(large)]);
  await submitter.close();
  const kinds = both.map((one) => (one.status === "fulfilled" ? one.value.kind : String(one.reason)));
  expect(kinds).toEqual(["stored", "mismatch"]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.jobs`).toHaveLength(2);
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
  for (const { a } of [held, free]) await finish(a);
  // Nothing that waits for the stranger would be over before the test is.
  const patient = { ...deps, database: second };
  const pending = async () =>
    (await deps.database.sql`SELECT key FROM atlasqueue.outbox`).map(({ key }) => key as string);
  await second.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'held' FOR UPDATE`;
    await advanceAndAdmit(patient);
    expect(await status(free.c)).toBe("queued");
    expect(await pending()).toEqual([held.b]);
    const late = await flow("free");
    await finish(late.a);
    await advanceAndAdmit(patient);
    expect(await pending()).toEqual([held.b]);
  });
  await eventually(async () => {
    await advanceAndAdmit(patient);
    expect(await pending()).toEqual([]);
  });
});

test("a job retried by a person before it comes back with its parent is that person's from then on", async () => {
  const { p, c } = await addFlow(deps, { p: {}, c: { after: ["p"] } });
  await die(p);
  await advance();
  expect(await status(c)).toBe("cancelled");
  await retry(deps, "default", p);
  await finish(p);
  await closeEdges(deps, 500);
  await retry(deps, "default", c);
  await advance();
  await cancel(deps, "default", c);
  expect(await deps.database.sql`SELECT cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = ${c}`).toEqual([
    { cancelled_by: null },
  ]);
});
