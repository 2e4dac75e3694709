import { defineJob } from "@atlasqueue/contract";
import { cancel } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { z } from "zod";
import { gate, workerHarness } from "../test/harness.ts";
import { defineBatchHandler } from "./handler.ts";

const { add, becomes, deps, named, read, work } = workerHarness();
const row = z.object({ n: z.number() });
const rows = (...numbers: number[]) => numbers.map((n) => ({ type: "row", payload: { n } }));

test("a full batch goes at once, each job has its own result, and those that failed are retried by themselves", async () => {
  const calls: number[][] = [];
  const handler = defineBatchHandler(defineJob("row", row), { size: 4, waitMs: 60_000 }, async (jobs) => {
    calls.push(jobs.map(({ payload: { n } }) => n).toSorted());
    return jobs.map(({ payload: { n }, context }) =>
      n > 2 && context.job.attempt === 1 ? new TypeError(`not ${n}`) : { n, attempt: context.job.attempt },
    );
  });
  const ids = await add(...rows(1, 2, 3, 4));
  work([handler], { concurrency: 4 });
  await becomes(ids[0], { status: "succeeded", attempts: 1, result: { n: 1, attempt: 1 } });
  await eventually(async () => expect((await read(ids[2]))?.last_error).toBe("TypeError: not 3"));
  // Four once more, two of them new.
  const more = await add(...rows(5, 0).map((one) => ({ ...one, max_attempts: 1 })));
  await becomes(ids[2], { status: "succeeded", attempts: 2, result: { n: 3, attempt: 2 } });
  await becomes(ids[3], { status: "succeeded", attempts: 2, result: { n: 4, attempt: 2 } });
  await becomes(more[0], { status: "dead", last_error: "TypeError: not 5" });
  await becomes(more[1], { status: "succeeded", result: { n: 0, attempt: 1 } });
  expect(calls).toEqual([
    [1, 2, 3, 4],
    [0, 3, 4, 5],
  ]);
});

test("a batch that is not full goes after waitMs; a payload that does not fit and a missing result fail alone", async () => {
  const calls: string[][] = [];
  const handler = defineBatchHandler("row", row, { size: 10, waitMs: 300 }, (jobs) => {
    calls.push(jobs.map(({ id }) => id).toSorted());
    return new Map(jobs.filter(({ payload }) => payload.n > 1).map(({ id, payload }) => [id, payload.n]));
  });
  const once = [...rows(1, 2, 3), { type: "row", payload: { n: "four" } }];
  const ids = await add(...once.map((one) => ({ ...one, max_attempts: 1 })));
  work([handler]);
  await becomes(ids[0], {
    status: "dead",
    last_error: `TypeError: the batch handler of row returned no result for the job ${ids[0]}`,
  });
  await becomes(ids[1], { status: "succeeded", result: 2 });
  await becomes(ids[2], { status: "succeeded", result: 3 });
  expect((await read(ids[3]))?.last_error).toMatch(/^PayloadError/);
  expect(calls).toEqual([ids.slice(0, 3).toSorted()]);
});

test.each([
  ["throws", () => Promise.reject(new Error("no room")), "Error: no room"],
  ["returns too few", () => [1], "TypeError: the batch handler of row returned 1 results for 2 jobs"],
  ["returns nothing", () => undefined as never, /^TypeError: the batch handler of row returned nothing: it must/],
])("a handler that %s fails all of its batch", async (_name, run, says) => {
  const ids = await add(...rows(1, 2).map((one) => ({ ...one, max_attempts: 1 })));
  work([defineBatchHandler("row", row, { size: 2, waitMs: 60_000 }, run)]);
  const last_error = typeof says === "string" ? says : expect.stringMatching(says);
  for (const id of ids) await becomes(id, { status: "dead", last_error });
});

test("a job that is cancelled leaves its batch, before the call or during it, and the others go on", async () => {
  const { open, opened } = gate();
  const calls: { ids: string[]; aborted: boolean[]; all: boolean }[] = [];
  const handler = defineBatchHandler("row", row, { size: 3, waitMs: 60_000 }, async (jobs, { signal }) => {
    await opened;
    const aborted = jobs.map(({ context }) => context.signal.aborted);
    calls.push({ ids: jobs.map(({ id }) => id), aborted, all: signal.aborted });
    return jobs.map(({ payload }) => payload.n);
  });
  work([handler], { leaseSeconds: 1 });
  const cancelRunning = async (id = "") => {
    await becomes(id, { status: "running" });
    const lost = named("lease_lost").length;
    await cancel(deps(), "default", id);
    await eventually(() => expect(named("lease_lost")).toHaveLength(lost + 1));
  };
  const [early] = await add(...rows(1));
  await cancelRunning(early);
  const ids = await add(...rows(2, 3, 4));
  await cancelRunning(ids[1]);
  open();
  await becomes(ids[0], { status: "succeeded", result: 2 });
  await becomes(ids[2], { status: "succeeded", result: 4 });
  for (const id of [early, ids[1]]) expect(await read(id)).toMatchObject({ status: "cancelled" });
  const [call] = calls;
  expect(calls).toHaveLength(1);
  expect(call?.ids.toSorted()).toEqual(ids.toSorted());
  expect(call?.ids.filter((_id, at) => call.aborted[at])).toEqual([ids[1]]);
  expect(call?.all).toBe(false);
});

test("a stop lets a batch that still waits for more run to its end", async () => {
  const handler = defineBatchHandler("row", row, { size: 10, waitMs: 500 }, (jobs) => jobs.map(() => "done"));
  const ids = await add(...rows(1, 2));
  const worker = work([handler]);
  for (const id of ids) await becomes(id, { status: "running" });
  await worker.stop();
  for (const id of ids) expect(await read(id)).toMatchObject({ status: "succeeded", attempts: 1, result: "done" });
});

test("a batch larger than the slots, and options out of range, are refused", () => {
  const of = (options: { size: number; waitMs: number }) => defineBatchHandler("row", row, options, () => []);
  const handlers = [of({ size: 20, waitMs: 0 })];
  const why = "concurrency must be at least the size of the batch handler of row, 20; got 10";
  expect(() => work(handlers)).toThrow(why);
  expect(() => work(handlers, { queues: { a: 10, b: 5 } })).toThrow(why);
  work(handlers, { queues: { a: 20, b: 5 } });
  expect(() => of({ size: 0, waitMs: 0 })).toThrow("size of row must be an integer from 1 to 1000; got 0");
  expect(() => of({ size: 5, waitMs: -1 })).toThrow("waitMs of row must be an integer from 0 to 60000; got -1");
});
