import { type Json } from "@atlasqueue/contract";
import { createFollowUps, type FollowUps } from "@atlasqueue/core/internal";
import { sendSignal } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isolatedHandlers } from "../test/isolated-handlers.ts";
import { any, gate, workerHarness } from "../test/harness.ts";
import { defineHandler, type HandlerFunction, type HandlerOptions } from "./handler.ts";

const harness = workerHarness();
let followUps: FollowUps;
beforeEach(async () => {
  await harness.sql()`
    TRUNCATE atlasqueue.job_state, atlasqueue.queues, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.job_groups`;
  followUps = createFollowUps(harness.deps());
});
afterEach(() => followUps.stop());

const work = (run: HandlerFunction<unknown>, options: HandlerOptions = {}, concurrency = 5) =>
  harness.work([defineHandler("noop", any, run, options)], { concurrency });
const send = async (id: string, name = "go", payload: Json = null): Promise<string> => {
  const outcome = await sendSignal(harness.deps(), "default", id, name, payload);
  if (outcome.kind === "sent" && outcome.woken) await followUps.woken(outcome.job);
  return outcome.kind;
};

test("a job waits for its signal without a slot, and goes on after the step before it", async () => {
  const done: string[] = [];
  const worker = work(
    async (_payload, { step, waitFor }) => {
      await step("ask", () => void done.push("ask"));
      const answer = await waitFor("go", { timeoutSeconds: 60 });
      await step("act", () => void done.push("act"));
      return answer;
    },
    {},
    1,
  );
  const ids = await harness.add({}, {}, {});
  for (const id of ids) await harness.becomes(id, { status: "scheduled", waits_for: "go", attempts: 0 });
  await worker.empty({ dueWithinSeconds: 0 });
  expect(done).toEqual(["ask", "ask", "ask"]);
  for (const [at, id] of ids.entries()) expect(await send(id, "go", { at })).toBe("sent");
  for (const [at, id] of ids.entries())
    await harness.becomes(id, { status: "succeeded", attempts: 1, result: { timed_out: false, payload: { at } } });
  expect(done).toHaveLength(6);
  expect(harness.named("handler_error")).toEqual([]);
  expect(await harness.sql()`SELECT FROM atlasqueue.job_attempts`).toEqual([]);
  await eventually(async () => expect(await harness.sql()`SELECT FROM atlasqueue.claims`).toEqual([]));
});

test("when its time is over the handler is told, and again in a later attempt", async () => {
  let failed = false;
  const seen: unknown[] = [];
  work(async (_payload, { waitFor }) => {
    const answer = await waitFor("go", { timeoutSeconds: 1 });
    seen.push(answer);
    if (!failed) {
      failed = true;
      throw new Error("once more");
    }
    return answer;
  });
  const [id = ""] = await harness.add({});
  await harness.becomes(id, { status: "scheduled", waits_for: "go" });
  await harness.becomes(id, { status: "succeeded", attempts: 2, result: { timed_out: true } });
  expect(seen).toEqual([{ timed_out: true }, { timed_out: true }]);
});

test("a handler that swallows the end of its attempt changes nothing", async () => {
  const swallowed = gate();
  const later: string[] = [];
  work(async (_payload, { step, waitFor, signal }) => {
    const answer = await waitFor("go", { timeoutSeconds: 60 }).catch((error: Error) => error);
    if (!(answer instanceof Error)) return "the second time";
    later.push(answer.name, String(signal.aborted));
    for (const more of [() => step("a", () => 1), () => waitFor("other", { timeoutSeconds: 1 })])
      await more().catch((error: Error) => later.push(error.name));
    swallowed.open();
    return "the first time";
  });
  const [id = ""] = await harness.add({});
  await swallowed.opened;
  expect(later).toEqual(["ParkedError", "true", "ParkedError", "ParkedError"]);
  expect(await harness.read(id)).toMatchObject({ status: "scheduled", waits_for: "go", attempts: 0 });
  await send(id);
  await harness.becomes(id, { status: "succeeded", result: "the second time" });
});

test("a signal that comes first is there at once, and the job is not parked", async () => {
  const [id = ""] = await harness.add({});
  await send(id, "go", 17);
  work(async (_payload, { waitFor }) => waitFor("go", { timeoutSeconds: 60 }));
  await harness.becomes(id, { status: "succeeded", attempts: 1, result: { timed_out: false, payload: 17 } });
  expect(harness.named("job_parked")).toEqual([]);
});

test("a worker that drains lets a job park, and gives back one whose handler is too slow for that", async () => {
  const parking = gate();
  const go = gate();
  const worker = work(async (payload, { waitFor, step, signal }) => {
    const { slow } = payload as { slow?: boolean };
    if (slow)
      return step(
        "slow",
        () => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("x")))),
      );
    parking.open();
    await go.opened;
    return waitFor("go", { timeoutSeconds: 60 });
  });
  const [parks, slow] = await harness.add({}, { payload: { slow: true } });
  await parking.opened;
  await harness.becomes(slow, { status: "running" });
  const stopped = worker.stop({ deadlineMs: 300 });
  go.open();
  await stopped;
  expect(await harness.read(parks)).toMatchObject({ status: "scheduled", waits_for: "go", attempts: 0 });
  expect(await harness.read(slow)).toMatchObject({ status: "queued", attempts: 0 });
});

test("an isolated handler has both, and its process goes on to the next job", { tags: ["slow"] }, async () => {
  harness.work(isolatedHandlers, { isolation: { processesMax: 1 } });
  const [id = ""] = await harness.add({ type: "parks" });
  await harness.becomes(id, { status: "scheduled", waits_for: "go", attempts: 0 });
  const [bad] = await harness.add({ type: "bad-step", max_attempts: 1 });
  await harness.becomes(bad, { status: "dead", last_error: expect.stringContaining("StepError: the step") as string });
  await send(id, "go", { __proto__: 1, a: "b" });
  await harness.becomes(id, { status: "succeeded", attempts: 1 });
  const { result } = (await harness.read(id)) ?? {};
  expect(result).toMatchObject({ answer: { timed_out: false, payload: { a: "b" } }, again: 1 });
  const { by, pid } = result as { by: number; pid: number };
  expect(by, "the same process, before and after").toBe(pid);
});
