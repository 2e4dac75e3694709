import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient, type Client } from "@atlasqueue/client";
import { eventually, forFile, tcpProxy } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
let api: Api;
let direct: Client;
beforeAll(async () => {
  // The worker sweeps. Without it no lease would end.
  const sweeps = { LOG_LEVEL: "error", WORKER_QUEUES: "local" };
  [api] = await Promise.all([system.startApi({ LOG_LEVEL: "error" }), system.startWorker(sweeps)]);
  direct = createClient({ url: api.url });
});

const lease_seconds = 3;

/** The job that the answer tells of, once it has ended, and whether its worker has noticed. */
async function cutAfter(kept: number) {
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
  const { status, attempts } = await direct.wait(id, { timeoutMs: 40_000 });
  return { kept, status, attempts, noticed: events.includes("api_unavailable") };
}

test("the answer to a waiting call breaks off in the network after 0, 40 or 300 bytes: its job loses no attempt", async () => {
  const cuts = [0, 40, 300];
  const ended = cuts.map((kept) => ({ kept, status: "succeeded", attempts: 1, noticed: true }));
  expect(await Promise.all(cuts.map(cutAfter))).toEqual(ended);
}, 60_000);
