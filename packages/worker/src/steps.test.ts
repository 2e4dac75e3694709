import { setTimeout as delay } from "node:timers/promises";
import { findJobSteps } from "@atlasqueue/core/internal/worker";
import { beforeEach, expect, test } from "vitest";
import { any, gate, workerHarness } from "../test/harness.ts";
import { defineHandler, type HandlerFunction } from "./handler.ts";

const harness = workerHarness();
beforeEach(async () => void (await harness.sql()`TRUNCATE atlasqueue.job_state`));

const work = (run: HandlerFunction<unknown>) => harness.work([defineHandler("noop", any, run)]);

test("a retry does only the steps that were not done, and gets the results of those that were", async () => {
  const done: string[] = [];
  let failures = 2;
  work(async (_payload, { step }) => {
    const at = await step("first", () => {
      done.push("first");
      return { at: new Date(0), left_out: undefined };
    });
    const second = await step("second", async () => {
      done.push("second");
      await delay(1);
      if (failures-- > 0) throw new Error("not yet");
      return 2;
    });
    return { at, second };
  });
  const [id = ""] = await harness.add({});
  await harness.becomes(id, {
    status: "succeeded",
    attempts: 3,
    result: { at: { at: "1970-01-01T00:00:00.000Z" }, second: 2 },
  });
  expect(done).toEqual(["first", "second", "second", "second"]);
  const { steps } = (await findJobSteps(harness.deps(), "default", id)) ?? {};
  expect(steps?.map(({ name, attempt }) => [name, attempt])).toEqual([
    ["first", 1],
    ["second", 3],
  ]);
});

test.each([
  [
    "a name used twice",
    /begun the step "a" already/,
    (step: Step) => Promise.all([step("a", () => 1), step("a", () => 2)]),
  ],
  ["an empty name", /name of a step must be/, (step: Step) => step("", () => 1)],
  ["a name with a line break", /name of a step must be/, (step: Step) => step("a\nb", () => 1)],
  ["a result that JSON would change", /cannot be stored/, (step: Step) => step("a", () => new Map([[1, 1]]))],
  ["a result that is too large", /262144/, (step: Step) => step("a", () => "x".repeat(262_145))],
])("%s fails the attempt in clear words", async (_what, words, use) => {
  work((_payload, { step }) => use(step));
  const [id] = await harness.add({ max_attempts: 1 });
  await harness.becomes(id, { status: "dead", last_error: expect.stringMatching(words) as string });
});
type Step = <T>(name: string, run: () => T) => Promise<Awaited<T>>;

test("a step that failed may be tried again in the same attempt", async () => {
  let tries = 0;
  work(async (_payload, { step }) => {
    const once = () => step("a", () => ((tries += 1) === 1 ? Promise.reject(new Error("no")) : tries));
    return once().catch(once);
  });
  const [id] = await harness.add({});
  await harness.becomes(id, { status: "succeeded", result: 2, attempts: 1 });
});

test("a step whose lease is lost meanwhile is not stored, and its handler is told", async () => {
  const inside = gate();
  const go = gate();
  const told = gate();
  let runs = 0;
  work(async (_payload, { step, signal }) => {
    runs += 1;
    if (runs > 1) return "again";
    await step("a", async () => {
      inside.open();
      await go.opened;
      return 1;
    }).catch(() => signal.aborted && told.open());
    return "lost";
  });
  const [id = ""] = await harness.add({});
  await inside.opened;
  await harness.sql()`UPDATE atlasqueue.jobs SET lease_token = gen_random_uuid() WHERE id = ${id}`;
  go.open();
  await told.opened;
  expect(await harness.sql()`SELECT FROM atlasqueue.job_state`).toEqual([]);
  expect(harness.named("lease_lost")).toMatchObject([{ during: "step" }]);
});
