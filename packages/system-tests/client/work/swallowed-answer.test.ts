import { setTimeout as pause } from "node:timers/promises";
import { eventually, tcpProxy } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { gate, recorder } from "../recorder.ts";
import { standStill } from "../../../client/test/stand-still.ts";
import { testApi, type TestApi } from "../test-api.ts";
import { createClient, type Client } from "@atlasqueue/client";
import { swallowed } from "../../../client/test/swallowed.ts";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

test(
  "a lease whose answer the network swallows is asked for again, and has the same job",
  { tags: ["slow"], timeout: 90_000 },
  async () => {
    const proxy = await tcpProxy(api.url);
    onTestFinished(() => proxy.close());
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
  },
);

const isHeartbeat = (input: unknown) => String(input).endsWith("/heartbeat");

test.each([3, 6, 12])(
  "one swallowed heartbeat of a lease of %i s aborts no handler",
  { tags: ["slow"], timeout: 60_000 },
  async (leaseSeconds) => {
    const queue = `beat-${leaseSeconds}`;
    const { opened, open } = gate();
    let heartbeats = 0;
    const remote = createClient({
      url: api.url,
      async fetch(input, init) {
        if (!isHeartbeat(input)) return fetch(input, init);
        heartbeats += 1;
        if (heartbeats === 1) return swallowed(init?.signal);
        const answer = await fetch(input, init);
        open();
        return answer;
      },
    });
    const told = recorder();
    const worker = remote.work(queue, () => opened, { leaseSeconds, waitSeconds: 1, observe: told.observe });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    const { id } = await client.submit({ type: "a", queue, max_attempts: 1 });
    expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(told.named("lease_lost")).toEqual([]);
  },
);

test(
  "an API that takes a good part of each lease to renew it loses none",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
    const { opened, open } = gate();
    let renewed = 0;
    const slow = createClient({
      url: api.url,
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (!isHeartbeat(input)) return answer;
        await pause(1_500, undefined, { signal: init?.signal ?? undefined });
        renewed += 1;
        if (renewed === 3) open();
        return answer;
      },
    });
    const told = recorder();
    const worker = slow.work("slow", () => opened, { leaseSeconds: 6, waitSeconds: 1, observe: told.observe });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    const { id } = await client.submit({ type: "a", queue: "slow", max_attempts: 1 });
    expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(told.named("lease_lost")).toEqual([]);
  },
);

test("a late start is not given up for one swallowed renewal", { tags: ["slow"], timeout: 60_000 }, async () => {
  const { id } = await client.submit({ type: "a", queue: "late", max_attempts: 1 });
  let stood = false;
  let heartbeats = 0;
  const remote = createClient({
    url: api.url,
    async fetch(input, init) {
      if (isHeartbeat(input) && (heartbeats += 1) === 1) return swallowed(init?.signal);
      const response = await fetch(input, init);
      const text = await response.text();
      if (!stood && text.includes('"lease_token"')) {
        stood = true;
        standStill(3_100);
      }
      return new Response(text, response);
    },
  });
  const told = recorder();
  const worker = remote.work("late", () => {}, { leaseSeconds: 6, waitSeconds: 1, observe: told.observe });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(told.named("job_settled").length + told.named("lease_lost").length).toBe(1), {
    timeout_ms: 20_000,
  });
  expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test(
  "a late start that no answer allows goes back, as a renewal may have held it nevertheless",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
    const { id } = await client.submit({ type: "a", queue: "unheard", max_attempts: 1 });
    let stood = false;
    let released = false;
    const remote = createClient({
      url: api.url,
      async fetch(input, init) {
        const response = await fetch(input, init);
        const text = await response.text();
        released ||= String(init?.body).includes('"releases"');
        if (isHeartbeat(input) && !released) throw new TypeError("fetch failed");
        if (!stood && text.includes('"lease_token"')) {
          stood = true;
          standStill(1_600);
        }
        return new Response(text, response);
      },
    });
    const worker = remote.work("unheard", () => {}, { leaseSeconds: 3, waitSeconds: 1, observe: () => {} });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(released).toBe(true);
  },
);

test("a worker whose lease's answer comes too late asks for half as many, and for one more after each that comes in time", async () => {
  const asked: unknown[] = [];
  let late = 2;
  const remote = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!String(input).endsWith("/lease")) return fetch(input, init);
      asked.push((JSON.parse(String(init?.body)) as { max_jobs: number }).max_jobs);
      late -= 1;
      return late < 0 ? fetch(input, init) : swallowed(init?.signal);
    },
  });
  const worker = remote.work("large", () => {}, {
    concurrency: 20,
    leaseSeconds: 3,
    waitSeconds: 0,
    observe: () => {},
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(asked.slice(0, 4)).toEqual([20, 10, 5, 6]));
});

test("a worker repeats an ack whose response was lost, before a lease of 5 s ends", { tags: ["slow"] }, async () => {
  let settlements = 0;
  const remote = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (!String(input).endsWith("/settle") || (settlements += 1) > 1) return response;
      return swallowed(init?.signal);
    },
  });
  const told = recorder();
  const worker = remote.work("acked", () => {}, { leaseSeconds: 5, waitSeconds: 1, observe: told.observe });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await client.submit({ type: "a", queue: "acked", group: "alone" });
  await eventually(() => expect(told.named("job_settled").length + told.named("lease_lost").length).toBe(1));
  expect(told.named("lease_lost")).toEqual([]);
});
