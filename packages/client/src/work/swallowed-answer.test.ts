import { eventually, tcpProxy } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { recorder } from "../../test/recorder.ts";
import { testApi, type TestApi } from "../../test/test-api.ts";
import { createClient } from "../index.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

test("a lease whose answer the network swallows is given back before it ends, however long calls may wait", async () => {
  const proxy = await tcpProxy(api.url);
  onTestFinished(() => proxy.close());
  const client = createClient({ url: api.url });
  const told = recorder();
  const handled: string[] = [];
  const remote = createClient({ url: proxy.url });
  const worker = remote.work("swallowed", (_payload, { job }) => void handled.push(job.id), {
    leaseSeconds: 15,
    waitSeconds: 20,
    observe: told.observe,
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  // It waits for a job.
  await eventually(() => expect(proxy.connections()).toBe(1));
  proxy.blackhole("answers");
  const { id } = await client.submit({ type: "a", queue: "swallowed", max_attempts: 1 });
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "running" }));
  // New connections are served; nothing is heard on the old one any more.
  proxy.heal();
  expect(await client.wait(id, { timeoutMs: 60_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(handled).toEqual([id]);
}, 90_000);
