import { createClient } from "@atlasqueue/client";
import { eventually } from "@atlasqueue/harness";
import { createWorker } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { refunds } from "./refund.ts";

test("a refund waits for a person without a worker, and reserves the money once", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const calls: string[] = [];
  const bank = {
    reserve: async (cents: number, key: string) => (calls.push(key), `reserved ${cents}`),
    pay: async (id: string, key: string) => (calls.push(key), `paid ${id}`),
  };
  const worker = createWorker({ databaseUrl, handlers: [refunds(bank)] });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  const client = createClient({ url: apiUrl });
  const job = await client.submit({ type: "refund", payload: { cents: 4_200 }, max_attempts: 1 });
  await eventually(async () => expect(await client.get(job.id)).toMatchObject({ waits_for: "decided", attempts: 0 }));
  await job.signal("decided", { approved: true, by: "ada" });
  expect(await job.result()).toEqual({ paid: "paid reserved 4200", by: "ada" });
  expect(calls).toEqual([`${job.id}-reserve`, `${job.id}-pay`]);
});
