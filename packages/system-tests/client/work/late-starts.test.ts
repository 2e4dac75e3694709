import { setTimeout as pause } from "node:timers/promises";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { recorder } from "../recorder.ts";
import { standStill } from "../../../client/test/stand-still.ts";
import { clientOf, testApi } from "../test-api.ts";
import { createClient, type WorkOptions } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

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
      if (String(input).endsWith("/heartbeat")) renewed_first ||= !started;
      const response = await fetch(input, init);
      const body = (await response.json()) as { jobs?: unknown[]; waited_ms: number };
      if (!String(input).endsWith("/lease") || body.jobs?.length === 0) return Response.json(body);
      gone_by_ms = 20_000;
      return Response.json({ ...body, waited_ms: body.waited_ms + 20_000 });
    },
  });
  const worker = waiting.work(queue, () => void (started = true), { leaseSeconds: 30, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(renewed_first).toBe(false);
});

test("a late start's renewal is tried again after a failure while the lease still holds", async () => {
  const { id } = await client.submit({ type: "a", queue: "late-retry" });
  const told = recorder();
  let late = false;
  let failed = false;
  const hard = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!failed && String(input).endsWith("/heartbeat")) {
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
  const worker = hard.work("late-retry", () => {}, { leaseSeconds: 6, observe: told.observe });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(failed).toBe(true);
  expect(told.named("lease_lost")).toEqual([]);
});

test("a renewal that takes a good part of the lease is enough to start a job", async () => {
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

test("a job behind handlers that hog the processor is renewed before it is started, once half of its lease is over", async () => {
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
