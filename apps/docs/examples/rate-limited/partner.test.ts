import { createClient } from "@atlasqueue/client";
import { httpReceiver } from "@atlasqueue/harness";
import { createWorker } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { limitPartner, pushToPartner } from "./partner.ts";

test("two workers keep to the partner's limits and to its Retry-After", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const client = createClient({ url: apiUrl });
  await limitPartner(client);
  const starts: number[] = [];
  let under_way = 0;
  let most = 0;
  let is_busy = true;
  const receiver = await httpReceiver(async ({ path }) => {
    starts.push(performance.now());
    most = Math.max(most, (under_way += 1));
    await new Promise((resolve) => void setImmediate(resolve));
    under_way -= 1;
    if (path === "/orders/404") return { status: 404 };
    if (path === "/orders/1" && is_busy) {
      is_busy = false;
      return { status: 429, headers: { "retry-after": "1" } };
    }
    return { status: 204 };
  });
  const handlers = [pushToPartner(receiver.url)];
  const workers = [1, 2].map(() => createWorker({ databaseUrl, queues: ["partner"], handlers }));
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 0 })));
    await receiver.close();
  });
  const orders = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 404];
  const jobs = orders.map((order) => ({ type: "partner.push", payload: { order }, queue: "partner" }));
  const handles = await client.submitMany(jobs);
  const ended = await Promise.all(handles.map(({ id }) => client.wait(id)));
  expect(ended.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual([
    "succeeded 2",
    ...Array<string>(9).fill("succeeded 1"),
    "dead 1",
  ]);
  expect(most).toBeLessThanOrEqual(3);
  // Twelve starts, five a second: the last comes two seconds after the first, less the time that requests took.
  expect(starts).toHaveLength(12);
  expect(Math.max(...starts) - Math.min(...starts)).toBeGreaterThan(1_000);
});
