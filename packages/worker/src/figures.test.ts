import { createQueue } from "@atlasqueue/core";
import { readSeries } from "@atlasqueue/core/internal/http";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { deps, sql, url, work } = workerHarness();
const handlers = [
  defineHandler("works", any, () => "done"),
  defineHandler("fails", any, () => Promise.reject(new Error("no"))),
];

test("a program that submits and works by itself leaves its figures when it stops, without an API", async () => {
  const queue = createQueue({ databaseUrl: url() });
  const worker = work(handlers, { pollTimeoutSeconds: 1 });
  await queue.submitMany([{ type: "works" }, { type: "works" }, { type: "fails", max_attempts: 1 }]);
  await eventually(async () => {
    expect(await sql()`SELECT FROM atlasqueue.jobs WHERE status IN ('succeeded', 'dead')`).toHaveLength(3);
  });
  // What was submitted is the queue's to tell, what became of it the worker's; each has some seconds of it in memory.
  await queue.close();
  await worker.stop({ deadlineMs: 5_000 });
  const { total } = await readSeries(deps(), "default", { window: "1h" });
  expect(total).toMatchObject({ submitted: 3, succeeded: 2, failed: 1, dead: 1, retried: 0 });
  expect(total).toMatchObject({ wait: { count: 3 }, run: { count: 3 } });
  const { total: of_type } = await readSeries(deps(), "default", { window: "15m", queue: "default", type: "works" });
  expect(of_type).toMatchObject({ submitted: 2, succeeded: 2, failed: 0 });
});
