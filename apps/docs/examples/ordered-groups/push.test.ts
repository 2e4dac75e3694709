import { createQueue } from "@atlasqueue/core";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startSystem } from "../system.ts";
import { pushEvent } from "./push.ts";

test("events of a customer are pushed in order, though one of them has to be retried", { tags: ["slow"] }, async () => {
  const { databaseUrl } = await startSystem();
  const queue = createQueue({ databaseUrl });
  const pushed: string[] = [];
  const event = z.object({ customer: z.int(), number: z.int() });
  const push = defineHandler("erp.push", event, ({ customer, number }, { job }) => {
    if (customer === 1 && number === 2 && job.attempt === 1) throw new Error("the ERP is busy");
    pushed.push(`${customer}:${number}`);
  });
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  const worker = createWorker({ databaseUrl, handlers: [push], concurrency: 8, backoff });
  onTestFinished(async () => {
    await worker.stop({ deadlineMs: 0 });
    await queue.close();
  });
  for (const number of [1, 2, 3])
    for (const customer of [1, 2]) await pushEvent(queue, { customer, number, text: "changed" });
  expect((await pushEvent(queue, { customer: 1, number: 3, text: "changed" })).created).toBe(false);
  await worker.empty({ dueWithinSeconds: 5 });
  expect(pushed.filter((one) => one.startsWith("1:"))).toEqual(["1:1", "1:2", "1:3"]);
  expect(pushed.filter((one) => one.startsWith("2:"))).toEqual(["2:1", "2:2", "2:3"]);
});
