import {
  claim,
  createDuties,
  createFollowUps,
  createServedQueues,
  enqueue,
  type FollowUps,
} from "@atlasqueue/core/internal";
import { submission } from "@atlasqueue/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workerHarness } from "./harness.ts";

const harness = workerHarness();
let followUps: FollowUps;
beforeEach(() => void (followUps = createFollowUps(harness.deps())));
afterEach(() => followUps.stop());

const moment = { asked: false };
const running = new AbortController().signal;
const gate = { isOpen: () => true, close: () => {} };
const late = () =>
  Promise.reject(Object.assign(new Error("canceling statement due to user request"), { code: "57014" }));
const length = async (queue: string) => (await harness.signal().look({ tenant: "default", queue })).length;

/** Stored, but no signal reached anyone: past the time in which one may be on its way. */
const lose = async (...queues: string[]): Promise<void> => {
  await enqueue(
    harness.deps(),
    queues.map((queue) => submission({ queue })),
    { idempotency_ttl_seconds: 60 },
  );
  await harness.sql()`UPDATE atlasqueue.jobs SET updated_at = updated_at - interval '1 minute'`;
};

test("no lease is ended while the gate is closed", async () => {
  const deps = { ...harness.deps(), followUps };
  const [id = ""] = await harness.add({});
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
  expect(await claim(deps, [id], claimer)).toHaveLength(1);
  await harness.sql()`UPDATE atlasqueue.jobs SET locked_until = now() WHERE status = 'running'`;
  await harness.sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  let is_open = false;
  const served = { queues: () => [], discover: async () => {} };
  const duties = createDuties(deps, served, running, { isOpen: () => is_open, close: () => {} });
  expect(await duties.start({}, moment)).toMatchObject({ recovered: 0 });
  is_open = true;
  // They are not skipped because their times were not known in time.
  expect(await duties.start({}, moment)).toMatchObject({ recovered: 1 });
});

test("served queues whose query is always late do not keep the round from the others", async () => {
  const deps = { ...harness.deps(), followUps };
  await lose("other");
  const duties = createDuties(deps, { queues: () => [], discover: late }, running, gate);
  await duties.start({}, moment);
  expect(await length("other")).toBe(1);
});

test("a served queue whose query is always late does not keep those behind it waiting", async () => {
  await lose("a", "b", "c");
  const deps = harness.deps();
  const signal: typeof deps.signal = {
    ...deps.signal,
    look: (queue) => (queue.queue === "b" ? late() : deps.signal.look(queue)),
  };
  const queues = ["a", "b", "c"].map((queue) => ({ tenant: "default", queue }));
  const served = createServedQueues({ ...deps, signal }, { queues: () => queues, discover: async () => {} });
  for (let sweep = 0; sweep < 2; sweep += 1) await served.look().catch(() => {});
  expect([await length("a"), await length("c")]).toEqual([1, 1]);
});

test("an overdue group goes on with the next sweep once it can", async () => {
  const deps = { ...harness.deps(), followUps };
  const sql = harness.sql();
  const [first = "", next = ""] = await harness.add({ group: "g" }, { group: "g" });
  await sql`UPDATE atlasqueue.jobs SET status = 'cancelled', finished_at = now(), ready_at = NULL, active_group_key = NULL WHERE id = ${first}`;
  const overdue = () => sql`UPDATE atlasqueue.job_groups SET overdue_at = now()`;
  await overdue();
  const duties = createDuties(deps, { queues: () => [], discover: async () => {} }, running, gate);
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${next} FOR UPDATE`;
    await duties.start({}, moment);
  });
  const status = async () => (await sql`SELECT status FROM atlasqueue.jobs WHERE id = ${next}`)[0]?.["status"];
  expect(await status()).toBe("blocked");
  await overdue();
  await duties.start({}, moment);
  expect(await status()).toBe("queued");
});
