import { createLogger } from "@atlasqueue/core";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, workerHarness } from "../../test/harness.ts";
import { isolatedHandlers } from "../../test/isolated-handlers.ts";
import { defineHandler } from "../handler.ts";

const { add, becomes, read, named, work } = workerHarness();

test("a handler that never ends dies at its timeout; its neighbour goes on meanwhile", { tags: ["slow"] }, async () => {
  let turns = 0;
  const neighbour = defineHandler("neighbour", any, async (_payload, { signal }) => {
    while (!signal.aborted && turns < 150) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      turns += 1;
    }
    return turns;
  });
  work([...isolatedHandlers, neighbour], { concurrency: 2, leaseSeconds: 0.6 });
  const [spin, other] = await add({ type: "spin", max_attempts: 1 }, { type: "neighbour" });
  await becomes(spin, { status: "dead", attempts: 1, last_error: "TimeoutError: the handler ran longer than 1 s" });
  await becomes(other, { status: "succeeded", attempts: 1, result: 150 });
  expect(named("lease_lost")).toEqual([]);
  expect(named("lease_expired")).toEqual([]);
});

test("a process that exits, runs out of memory or throws fails only its own job", { tags: ["slow"] }, async () => {
  work(isolatedHandlers, { isolation: { processesMax: 2, memoryMaxMb: 32 } });
  const [exit, hog, stray, sum] = await add(...["exit", "hog", "stray"].map((type) => ({ type, max_attempts: 1 })), {
    type: "sum",
    payload: { a: 2 },
  });
  await becomes(exit, { status: "dead", last_error: "ProcessError: the handler's process exited with code 3" });
  await becomes(hog, {
    status: "dead",
    last_error: "ProcessError: the handler's process was ended by SIGABRT, as when its memory is full",
  });
  await becomes(stray, { status: "dead", last_error: "ProcessError: the handler's process exited with code 1" });
  await becomes(sum, { status: "succeeded" });
});

test("a process that sends null, junk or nothing more fails only its own job", { tags: ["nightly"] }, async () => {
  work(isolatedHandlers, { isolation: { processesMax: 3 } });
  const junk = ["null\n", "no message\n"];
  const [nothing, hangs, sum, ...junks] = await add(
    { type: "tell-null" },
    { type: "hang-up", max_attempts: 1 },
    { type: "sum", payload: { a: 1 } },
    ...junk.map((text) => ({ type: "tell-junk", payload: { junk: text }, max_attempts: 1 })),
  );
  await becomes(nothing, { status: "succeeded", result: "told" });
  for (const id of junks)
    await becomes(id, {
      status: "dead",
      last_error: "ProcessError: the handler's process wrote to its worker's channel",
    });
  await becomes(hangs, { status: "dead", last_error: expect.stringMatching(/^ProcessError: /) as string });
  await becomes(sum, { status: "succeeded" });
});

test("a line of 17 MiB of its logger is cut, and the handler goes on", { tags: ["nightly"] }, async () => {
  const lines: string[] = [];
  const logger = createLogger("warn", "test", { write: (line) => void lines.push(line) });
  work(isolatedHandlers, {}, { logger });
  const [id] = await add({ type: "logs-much", max_attempts: 1 });
  await becomes(id, { status: "succeeded", result: "logged" });
  const [cut = ""] = lines.filter((line) => line.includes("yyy"));
  expect(cut.length).toBeLessThan(100_000);
  expect(JSON.parse(cut)).toMatchObject({ level: "warn", job_id: id, cut_at_chars: 65_536 });
});

test("what a handler prints in its own process belongs to the job, line by line", { tags: ["nightly"] }, async () => {
  work(isolatedHandlers);
  const [id] = await add({ type: "print" });
  await becomes(id, { status: "succeeded", result: "printed" });
  expect(named("handler_output")).toMatchObject([
    { job_id: id, attempt: 1, stream: "stdout", line: `${id} says` },
    { job_id: id, attempt: 1, stream: "stdout", line: '{"level":"error","event":"job_dead"}' },
    { job_id: id, attempt: 1, stream: "stderr", line: "oh dear" },
    { job_id: id, attempt: 1, stream: "stdout", line: "and more" },
  ]);
});

test("a process that says more than fits in its pipe at once ends its job", { tags: ["nightly"] }, async () => {
  work(isolatedHandlers, { isolation: { processesMax: 1 } });
  const [id = ""] = await add({ type: "says-much", payload: { lines: 20_000 } });
  await becomes(id, { status: "succeeded", result: "said" });
});

test("processes are reused, results come back, and what is thrown means the same as elsewhere", async () => {
  work(isolatedHandlers, { isolation: { processesMax: 1 } });
  const ids = await add(...[1, 2, 3].map((a) => ({ type: "sum", payload: { a } })));
  for (const id of ids) await becomes(id, { status: "succeeded" });
  const results = await Promise.all(ids.map(async (id) => (await read(id))?.result as { a: number; pid: number }));
  expect(results.map(({ a }) => a)).toEqual([2, 3, 4]);
  expect(new Set(results.map(({ pid }) => pid)).size).toBe(1);
  const [refused, unfit] = await add({ type: "refuse" }, { type: "sum", payload: { a: "x" }, max_attempts: 1 });
  await becomes(refused, { status: "dead", attempts: 1, last_error: "DoNotRetryError: it cannot help" });
  await becomes(unfit, { status: "dead", last_error: expect.stringMatching(/^PayloadError: /) as string });
});

test("a shutdown aborts what runs in a process and gives it back", async () => {
  const worker = work(isolatedHandlers);
  const [heedful, spin] = await add({ type: "heedful" }, { type: "spin", timeout_seconds: 60 });
  await becomes(heedful, { status: "running" });
  await becomes(spin, { status: "running" });
  await worker.stop({ deadlineMs: 0 });
  await eventually(async () => expect(await read(heedful)).toMatchObject({ status: "queued", attempts: 0 }));
  expect(await read(spin)).toMatchObject({ status: "queued", attempts: 0 });
});

test("a handler that cannot be loaded again is refused at the start", () => {
  const lost = defineHandler("lost", any, () => null, { isolate: true });
  expect(() => work([lost])).toThrow("use isolate: { module: import.meta.url }");
});

test("a process that ends after its job takes no other job with it", { tags: ["slow"] }, async () => {
  work(isolatedHandlers, { isolation: { processesMax: 1 }, concurrency: 20 });
  const ids = await add(
    ...Array.from({ length: 2 }, () => [
      { type: "exit-afterwards", max_attempts: 1 },
      { type: "sum", payload: { a: 1 }, max_attempts: 1 },
    ]).flat(),
  );
  for (const id of ids) await becomes(id, { status: "succeeded", attempts: 1 });
});
