import { expect, test } from "vitest";
import { addFlow } from "../../test/add-flow.ts";
import { advanceAndAdmit } from "../../test/advance.ts";
import { claimer, engineHarness, tenant } from "../../test/engine-harness.ts";
import { claim } from "../lease/claim.ts";
import { workLeft } from "./work-left.ts";

const { deps, add, finish } = engineHarness();
const left = (of: { tenant?: string; queues?: string[] } = {}) =>
  workLeft(deps, { tenant, queues: ["default"], worker_id: claimer.worker_id, due_within_seconds: 60, ...of });

test("ready jobs, and those the worker runs itself, are left; what others run, or is in other queues, is not", async () => {
  expect(await left()).toBe(false);
  const [id = ""] = await add({});
  expect(await left()).toBe(true);
  expect(await left({ queues: ["other"] })).toBe(false);
  expect(await left({ tenant: "other" })).toBe(false);
  await claim(deps, [id], { ...claimer, worker_id: "another" });
  expect(await left()).toBe(false);
});

test("the child of a job that has just ended is left, before anybody has released it", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await finish(a);
  expect(await left()).toBe(true);
  expect(await left({ tenant: "other" })).toBe(false);
  await advanceAndAdmit(deps);
  expect(await left()).toBe(true);
  await finish(b);
  await advanceAndAdmit(deps);
  expect(await left()).toBe(false);
});
