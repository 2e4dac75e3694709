import { createFollowUps, type FollowUps } from "@atlasqueue/core/internal";
import { createDuties } from "../../core/src/maintenance/sweep/duties.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workerHarness } from "./harness.ts";

const harness = workerHarness();
let followUps: FollowUps;
beforeEach(() => void (followUps = createFollowUps(harness.deps())));
afterEach(() => followUps.stop());

const moment = { asked: false };
const none = async () => {};
const running = new AbortController().signal;
const gate = { isOpen: () => true, close: () => {} };
const late = () =>
  Promise.reject(Object.assign(new Error("canceling statement due to user request"), { code: "57014" }));
const length = async (queue: string) => (await harness.signal().look({ tenant: "default", queue })).length;

test("no lease is ended while the gate is closed", async () => {
  const deps = { ...harness.deps(), followUps };
  const [id = ""] = await harness.add({});
  expect(await harness.claim([id])).toHaveLength(1);
  await harness.endLeases();
  let is_open = false;
  const duties = createDuties(deps, none, running, { isOpen: () => is_open, close: () => {} });
  expect(await duties.start({}, moment)).toMatchObject({ recovered: 0 });
  is_open = true;
  // They are not skipped because their times were not known in time.
  expect(await duties.start({}, moment)).toMatchObject({ recovered: 1 });
});

test("a search for tenants that is always late does not keep the round from their queues", async () => {
  const deps = { ...harness.deps(), followUps };
  await harness.lose("default", ["other"]);
  const duties = createDuties(deps, late, running, gate);
  await duties.start({}, moment);
  expect(await length("other")).toBe(1);
});

test("an overdue group goes on with the next sweep once it can", async () => {
  const deps = { ...harness.deps(), followUps };
  const sql = harness.sql();
  const [first = "", next = ""] = await harness.add({ group: "g" }, { group: "g" });
  await sql`UPDATE atlasqueue.jobs SET status = 'cancelled', finished_at = now(), ready_at = NULL, active_group_key = NULL WHERE id = ${first}`;
  const overdue = () => sql`UPDATE atlasqueue.job_groups SET overdue_at = now()`;
  await overdue();
  const duties = createDuties(deps, none, running, gate);
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
