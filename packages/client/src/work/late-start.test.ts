import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { recorder } from "../../test/recorder.ts";
import { standStill } from "../../test/stand-still.ts";
import { testApi, type TestApi } from "../../test/test-api.ts";
import { createClient, type Client, type WorkOptions } from "../index.ts";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

/** A worker that stands still for half a lease while the answer with jobs to a call lies in its socket. */
function standingStill(
  queue: string,
  meanwhile: () => Promise<unknown>,
  { call = "/lease", ...options }: WorkOptions & { call?: string } = {},
) {
  let stood = false;
  const late = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (stood || !String(input).endsWith(call)) return response;
      const text = await response.text();
      const { jobs = [], next = [] } = JSON.parse(text) as { jobs?: unknown[]; next?: unknown[] };
      if (jobs.length + next.length > 0) {
        stood = true;
        await meanwhile();
        standStill(1_500);
      }
      return new Response(text, response);
    },
  });
  const started: string[] = [];
  const told = recorder();
  const worker = late.work(queue, (_payload, { job }) => void started.push(job.id), {
    observe: told.observe,
    leaseSeconds: 3,
    ...options,
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  return { started, ...told };
}

test("a worker that stood still for half a lease starts no job that it has lost meanwhile", async () => {
  const ids = (await client.submitMany(Array.from({ length: 3 }, () => ({ type: "a", queue: "lost" })))).map(
    ({ id }) => id,
  );
  const [lost = "", ...others] = ids;
  const { started, named } = standingStill("lost", () => client.cancel(lost));
  for (const id of others) expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ job: { id: lost }, during: "starting" }]));
  expect(started.toSorted()).toEqual(others.toSorted());
});

test("nor the next of a run, which came with an ack's answer", async () => {
  const ids = (
    await client.submitMany(Array.from({ length: 3 }, () => ({ type: "a", queue: "lost-run", group: "g" })))
  ).map(({ id }) => id);
  const [first = "", lost = "", last = ""] = ids;
  const options = { call: "/settle", runMax: 100 };
  const { started, named } = standingStill("lost-run", () => client.cancel(lost), options);
  expect(await client.wait(last)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("lease_lost")).toMatchObject([{ job: { id: lost }, during: "starting" }]);
  expect(started).toEqual([first, last]);
});

test("jobs of answers that were slow are started without a renewal where this process was awake meanwhile", async () => {
  const jobs = Array.from({ length: 2 }, () => ({ type: "a", queue: "awake", group: "g" }));
  const [, last] = await client.submitMany(jobs);
  const started = new Set<string>();
  const renewed_first: string[] = [];
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const [, id = ""] = /jobs\/([^/]+)\/heartbeat$/.exec(String(input)) ?? [];
      if (id === "") await pause(1_200);
      else if (!started.has(id)) renewed_first.push(id);
      return response;
    },
  });
  const handler = (_payload: unknown, { job }: { job: { id: string } }) => void started.add(job.id);
  const worker = slow.work("awake", handler, { leaseSeconds: 3, runMax: 100, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await client.wait(last?.id ?? "")).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(renewed_first).toEqual([]);
});

test("a standstill far shorter than the lease costs no renewal before the start", async () => {
  const { id } = await client.submit({ type: "a", queue: "short-stop" });
  let stood = false;
  let renewed_first = false;
  const brief = createClient({
    url: api.url,
    async fetch(input, init) {
      if (String(input).endsWith("/heartbeat")) renewed_first ||= !started;
      const response = await fetch(input, init);
      const text = await response.text();
      if (!stood && text.includes('"lease_token"')) {
        stood = true;
        await pause(2_000);
        standStill(2_500);
      }
      return new Response(text, response);
    },
  });
  let started = false;
  const worker = brief.work("short-stop", () => void (started = true), { leaseSeconds: 12, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(renewed_first).toBe(false);
});

test("a renewal that takes more than a third of the lease is enough to start a job", async () => {
  const { id } = await client.submit({ type: "a", queue: "slow" });
  let stood = false;
  let renewals = 0;
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const text = await response.text();
      if (String(input).endsWith("/heartbeat")) {
        renewals += 1;
        await pause(1_200);
      } else if (!stood && text.includes('"lease_token"')) {
        stood = true;
        standStill(1_500);
      }
      return new Response(text, response);
    },
  });
  const worker = slow.work("slow", () => {}, { leaseSeconds: 3, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 }));
  expect(renewals).toBeLessThan(5);
});

test("a stop does not wait for the renewal of a job that was not started yet", async () => {
  const { id } = await client.submit({ type: "a", queue: "stop-late" });
  let asked = false;
  let stood = false;
  const deaf = createClient({
    url: api.url,
    async fetch(input, init) {
      if (String(input).endsWith("/heartbeat")) {
        asked = true;
        return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("cut"))));
      }
      const response = await fetch(input, init);
      const text = await response.text();
      if (!stood && text.includes('"lease_token"')) {
        stood = true;
        standStill(1_500);
      }
      return new Response(text, response);
    },
  });
  const started: unknown[] = [];
  const worker = deaf.work("stop-late", () => void started.push(id), { leaseSeconds: 3, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(asked).toBe(true));
  const began_at = performance.now();
  await worker.stop({ deadlineMs: 0 });
  // Its farewell takes five seconds at most; a try of the client's takes ten.
  expect(performance.now() - began_at).toBeLessThan(9_000);
  expect(started).toEqual([]);
}, 60_000);

test("a job behind a handler that hogs the processor is renewed before it is started", async () => {
  await client.submitMany(Array.from({ length: 2 }, () => ({ type: "a", queue: "hog" })));
  const sent: string[] = [];
  const counting = createClient({
    url: api.url,
    fetch: (input, init) => (sent.push(String(input)), fetch(input, init)),
  });
  const started: { id: string; renewed: boolean }[] = [];
  const worker = counting.work(
    "hog",
    (_payload, { job: { id } }) => {
      started.push({ id, renewed: sent.some((url) => url.endsWith(`/${id}/heartbeat`)) });
      if (started.length === 1) standStill(1_500);
    },
    { leaseSeconds: 1, concurrency: 2 },
  );
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(started.map(({ renewed }) => renewed)).toEqual([false, true]));
});

test("so is one behind several that hog it for a moment each, once a third of its lease is over", async () => {
  await client.submitMany(Array.from({ length: 4 }, () => ({ type: "a", queue: "hogs" })));
  const sent: string[] = [];
  const counting = createClient({
    url: api.url,
    fetch: (input, init) => (sent.push(String(input)), fetch(input, init)),
  });
  const renewed: boolean[] = [];
  const worker = counting.work(
    "hogs",
    (_payload, { job: { id } }) => {
      renewed.push(sent.some((url) => url.endsWith(`/${id}/heartbeat`)));
      standStill(450);
    },
    { leaseSeconds: 3, concurrency: 4, observe: () => {} },
  );
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await eventually(() => expect(renewed).toHaveLength(4));
  expect(renewed.at(-1)).toBe(true);
});
