import { setTimeout as pause } from "node:timers/promises";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../recorder.ts";
import { standStill } from "../../../client/test/stand-still.ts";
import { clientOf, lateFetch, testApi, workersOf } from "../test-api.ts";
import { createClient, type HandlerFunction, type JsonObject, type WorkOptions } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const submit = async (queue: string) => (await client.submit({ type: "a", queue, max_attempts: 1 })).id;
const submitThree = async (fields: { queue: string; group?: string }) =>
  (await client.submitMany(Array.from({ length: 3 }, () => ({ type: "a", ...fields })))).map(({ id }) => id);
const isHeartbeat = (input: unknown) => String(input).endsWith("/heartbeat");

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
  const work = workersOf(late, { leaseSeconds: 3 });
  return { started, ...work(queue, (_payload, { job }) => void started.push(job.id), options) };
}

test("a worker that stood still for half a lease starts no job that it has lost meanwhile", async () => {
  const [lost = "", ...others] = await submitThree({ queue: "lost" });
  const { started, named } = standingStill("lost", () => client.cancel(lost));
  for (const id of others) expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  await eventually(() => expect(named("lease_lost")).toMatchObject([{ job: { id: lost }, during: "starting" }]));
  expect(started.toSorted()).toEqual(others.toSorted());
});

test("nor the next of a run, which came with an ack's answer", async () => {
  const [first = "", lost = "", last = ""] = await submitThree({ queue: "lost-run", group: "g" });
  const options = { call: "/settle", runMax: 100 };
  const { started, named } = standingStill("lost-run", () => client.cancel(lost), options);
  expect(await client.wait(last)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("lease_lost")).toMatchObject([{ job: { id: lost }, during: "starting" }]);
  expect(started).toEqual([first, last]);
});

test("a job that was waited for long is started without a renewal", async () => {
  const queue = "waited";
  const { id } = await client.submit({ type: "a", queue });
  let gone_by_ms = 0;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + gone_by_ms);
  onTestFinished(() => clock.mockRestore());
  let renewed_first = false;
  let started = false;
  const waiting = createClient({
    url: api.url,
    async fetch(input, init) {
      if (isHeartbeat(input)) renewed_first ||= !started;
      const response = await fetch(input, init);
      const body = (await response.json()) as { jobs?: unknown[]; waited_ms: number };
      if (!String(input).endsWith("/lease") || body.jobs?.length === 0) return Response.json(body);
      gone_by_ms = 20_000;
      return Response.json({ ...body, waited_ms: body.waited_ms + 20_000 });
    },
  });
  workersOf(waiting)(queue, () => void (started = true), { leaseSeconds: 30 });
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(renewed_first).toBe(false);
});

test("a late start's renewal is tried again after a failure while the lease still holds", async () => {
  const { id } = await client.submit({ type: "a", queue: "late-retry" });
  let late = false;
  let failed = false;
  const hard = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!failed && isHeartbeat(input)) {
        failed = true;
        throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
      }
      const response = await fetch(input, init);
      const text = await response.text();
      if (late || !text.includes('"lease_token"')) return new Response(text, response);
      late = true;
      return Response.json({ ...(JSON.parse(text) as object), remaining_ms: 2_900 });
    },
  });
  const { named } = workersOf(hard)("late-retry", () => {}, { leaseSeconds: 6 });
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(failed).toBe(true);
  expect(named("lease_lost")).toEqual([]);
});

test("a renewal that takes a good part of the lease is enough to start a job", async () => {
  const { id } = await client.submit({ type: "a", queue: "slow" });
  let renewals = 0;
  const late = lateFetch(1_500);
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await late(input, init);
      if (isHeartbeat(input)) {
        renewals += 1;
        await pause(1_200);
      }
      return response;
    },
  });
  workersOf(slow)("slow", () => {}, { leaseSeconds: 3 });
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 }));
  expect(renewals).toBeLessThan(5);
});

test("a stop does not wait for the renewal of a job that was not started yet", async () => {
  const { id } = await client.submit({ type: "a", queue: "stop-late" });
  let asked = false;
  const late = lateFetch(1_500);
  const deaf = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!isHeartbeat(input)) return late(input, init);
      asked = true;
      return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("cut"))));
    },
  });
  const started: unknown[] = [];
  const { worker } = workersOf(deaf)("stop-late", () => void started.push(id), { leaseSeconds: 3 });
  await eventually(() => expect(asked).toBe(true));
  const began_at = performance.now();
  await worker.stop({ deadlineMs: 0 });
  // Its farewell takes five seconds at most; a try of the client's takes ten.
  expect(performance.now() - began_at).toBeLessThan(9_000);
  expect(started).toEqual([]);
}, 60_000);

test("a job behind handlers that hog the processor is renewed before it is started, once half of its lease is over", async () => {
  await client.submitMany(Array.from({ length: 4 }, () => ({ type: "a", queue: "hogs" })));
  const sent: string[] = [];
  const counting = createClient({
    url: api.url,
    fetch: (input, init) => (sent.push(String(input)), fetch(input, init)),
  });
  const renewed: boolean[] = [];
  const handler: HandlerFunction<JsonObject> = (_payload, { job: { id } }) => {
    renewed.push(sent.some((url) => url.endsWith(`/${id}/heartbeat`)));
    standStill(450);
  };
  workersOf(counting)("hogs", handler, { leaseSeconds: 3, concurrency: 4 });
  await eventually(() => expect(renewed).toHaveLength(4));
  expect(renewed.at(-1)).toBe(true);
});

test("an API that takes a good part of each lease to renew it", { tags: ["slow"], timeout: 60_000 }, async () => {
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
  const { named } = workersOf(slow)("slow-renewals", () => opened, { leaseSeconds: 6, waitSeconds: 1 });
  const id = await submit("slow-renewals");
  expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("lease_lost")).toEqual([]);
});

test("a late start that no answer allows goes back at once", { tags: ["slow"], timeout: 60_000 }, async () => {
  const id = await submit("unheard");
  let released = false;
  const late = lateFetch(1_600);
  const remote = createClient({
    url: api.url,
    async fetch(input, init) {
      const answer = await late(input, init);
      released ||= String(init?.body).includes('"releases"');
      if (isHeartbeat(input) && !released) throw new TypeError("fetch failed");
      return answer;
    },
  });
  workersOf(remote)("unheard", () => {}, { leaseSeconds: 3, waitSeconds: 1 });
  expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(released).toBe(true);
});
