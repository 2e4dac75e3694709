import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient, type Client } from "@atlasqueue/client";
import { eventually, forFile, tcpProxy } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
let api: Api;
let direct: Client;
beforeAll(async () => {
  api = await system.startApi({ LOG_LEVEL: "error" });
  direct = createClient({ url: api.url });
  // It sweeps. Without it no lease would end.
  await system.startWorker({ LOG_LEVEL: "error", WORKER_QUEUES: "local" });
});

const lease_seconds = 3;

test.each([0, 40, 300])(
  "the answer to a waiting call breaks off in the network after %i bytes: its job loses no attempt",
  { timeout: 60_000 },
  async (kept) => {
    const proxy = await tcpProxy(api.url);
    onTestFinished(() => proxy.close());
    const queue = `cut-${kept}`;
    const events: string[] = [];
    const remote = createClient({ url: proxy.url }).work(queue, () => {}, {
      leaseSeconds: lease_seconds,
      observe: ({ event }) => void events.push(event),
    });
    onTestFinished(() => remote.stop({ deadlineMs: 0 }));
    await eventually(() => expect(proxy.connections()).toBe(1));
    proxy.cutAnswersAfter(kept);
    const { id } = await direct.submit({ type: "a", queue, max_attempts: 1 });
    expect(await direct.wait(id, { timeoutMs: 40_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(events).toContain("api_unavailable");
  },
);
