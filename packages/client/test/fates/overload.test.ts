// @module-tag slow
import { chance } from "@atlasqueue/testing/servers";
import { expect, onTestFinished, test, vi } from "vitest";
import { within } from "../../src/http/time.ts";
import { createClient } from "../../src/index.ts";
import { fakeClock } from "../fake-clock.ts";
import { modelApi, newJob, type ModelJob } from "./model-api.ts";
import { network } from "./network.ts";

type Fleet = {
  leaseSeconds: number;
  workers: number;
  concurrency: number;
  jobs_per_second: number;
  handler_ms: number;
  /** After which a gateway before the API says 504 for it. */
  gateway_ms: number;
  /** Of the calls, as long as the API's answers are late, the gateway refuses so many at once. */
  refused_share: number;
  /** How many leases long the API stands still. */
  still_leases: number;
  /** After which it must have caught up. */
  calm_ms: number;
};

/** Of the API's time that each call takes: three fifths of it are used by a job's two calls, thirty times a second. */
const call_ms = 10;
/** An API whose answers take longer has not caught up. */
const slow_ms = 250;
const of = (fleet: Partial<Fleet>): Fleet => ({
  leaseSeconds: 30,
  workers: 20,
  concurrency: 10,
  jobs_per_second: 30,
  handler_ms: 200,
  gateway_ms: 60_000,
  refused_share: 0,
  still_leases: 2,
  calm_ms: 60_000,
  ...fleet,
});

/** An API that serves one call after another, and stands still when told to. A call whose caller has hung up costs it as much. */
function oneByOne(fetch: typeof globalThis.fetch) {
  let free_at_ms = 0;
  const stall = (ms: number) => void (free_at_ms = Math.max(performance.now(), free_at_ms) + ms);
  const asked: typeof fetch = (input, init) => {
    stall(call_ms);
    const signal = init?.signal;
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      setTimeout(() => !signal?.aborted && resolve(fetch(input, init)), free_at_ms - performance.now());
    });
  };
  /** How long what is asked now waits. */
  const behindMs = () => Math.max(0, free_at_ms - performance.now());
  return { fetch: asked, stall, behindMs };
}

/** Before an API: it hangs up, and says so, when its patience is over, and has no patience with some calls. */
const gateway =
  (patience_ms: number, refuses: () => boolean, fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    if (refuses()) return new Response("<html>", { status: 503 });
    const late = new Error("504");
    const ask = (signal: AbortSignal) => fetch(input, { ...init, signal });
    try {
      return await within(patience_ms, init?.signal ?? undefined, ask, () => late);
    } catch (error) {
      if (error !== late) throw error;
      return new Response("<html>", { status: 504 });
    }
  };

/** Workers of a queue at an API that has so much to do, by a clock that costs no time. */
function fleetOf(fleet: Partial<Fleet>) {
  const { leaseSeconds, workers, concurrency, handler_ms, gateway_ms, refused_share } = of(fleet);
  const pass = fakeClock();
  const random = chance(1);
  vi.spyOn(Math, "random").mockImplementation(random);
  const jobs: ModelJob[] = [];
  const api = modelApi(jobs, { ended: () => {} });
  onTestFinished(() => api.stop());
  const { fetch, stall, behindMs } = oneByOne(network(api, random, () => "prompt"));
  const cut = new Error("the API is gone");
  let gone = new AbortController();
  const goes = (is_gone: boolean): void => {
    if (is_gone) gone.abort(cut);
    else gone = new AbortController();
  };
  let delayMs = () => 0;
  const delayed: typeof fetch = async (input, init) => {
    const delay_ms = delayMs();
    if (delay_ms > 0) await new Promise((resolve) => setTimeout(resolve, delay_ms));
    const { signal } = gone;
    const hangs_up = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(cut);
      signal.addEventListener("abort", () => reject(cut), { once: true });
    });
    return Promise.race([fetch(input, init), hangs_up]);
  };
  const refuses = () => behindMs() > slow_ms && random() < refused_share;
  const run = () => new Promise<void>((resolve) => setTimeout(resolve, handler_ms));
  const all = Array.from({ length: workers }, () =>
    createClient({ url: "http://model", fetch: gateway(gateway_ms, refuses, delayed) }).work("q", run, {
      leaseSeconds,
      concurrency,
      observe: () => {},
    }),
  );
  return {
    jobs,
    stall,
    delay: (some: () => number) => void (delayMs = some),
    goes,
    behindMs,
    submit: () => api.submit(newJob(`j${jobs.length}`, null)),
    running: () => all.reduce((sum, { running }) => sum + running, 0),
    pass,
  };
}

test.each([
  of({ leaseSeconds: 3 }),
  of({ leaseSeconds: 6 }),
  of({ leaseSeconds: 6, workers: 50, jobs_per_second: 40, calm_ms: 180_000 }),
  of({ leaseSeconds: 6, workers: 10, concurrency: 100, handler_ms: 3_000, jobs_per_second: 20, calm_ms: 90_000 }),
  of({ leaseSeconds: 10, workers: 4, concurrency: 100, handler_ms: 2_000 }),
  of({ leaseSeconds: 10, workers: 100, calm_ms: 120_000 }),
  of({ leaseSeconds: 10, workers: 100, still_leases: 4, calm_ms: 240_000 }),
  of({ leaseSeconds: 10, workers: 100, gateway_ms: 10_000, calm_ms: 120_000 }),
  of({ leaseSeconds: 10, workers: 100, gateway_ms: 10_000, refused_share: 0.3, calm_ms: 240_000 }),
  of({ workers: 4, concurrency: 1_000, jobs_per_second: 10, handler_ms: 10_000 }),
])(
  "an API that stood still for $still_leases leases catches up, with $workers workers, leases of $leaseSeconds s and a gateway of $gateway_ms ms that refuses $refused_share",
  { timeout: 300_000 },
  async (fleet) => {
    const { jobs, stall, behindMs, submit, pass } = fleetOf(fleet);
    const stall_ms = fleet.still_leases * fleet.leaseSeconds * 1_000;
    const submitting = setInterval(submit, 1_000 / fleet.jobs_per_second);
    await pass(10_000);
    stall(stall_ms);
    await pass(stall_ms + fleet.calm_ms);
    expect(behindMs()).toBeLessThan(slow_ms);
    clearInterval(submitting);
    await pass(60_000);
    expect(jobs.filter(({ status }) => status !== "succeeded")).toEqual([]);
  },
  // Its clock costs nothing, but its calls do.
);

test("a worker whose jobs run for long fills its slots again when the API has caught up", async () => {
  const { submit, stall, running, pass } = fleetOf({
    leaseSeconds: 600,
    workers: 1,
    concurrency: 10,
    handler_ms: 3_600_000,
  });
  for (let at = 0; at < 5; at += 1) submit();
  await pass(5_000);
  expect(running()).toBe(5);
  stall(300_000);
  await pass(310_000);
  for (let at = 0; at < 5; at += 1) submit();
  await pass(35_000);
  expect(running()).toBe(10);
});

test("a worker with long jobs uses its free slots soon after its API was gone", async () => {
  const { submit, running, pass, goes } = fleetOf({
    leaseSeconds: 300,
    workers: 1,
    concurrency: 40,
    handler_ms: 3_600_000,
  });
  for (let at = 0; at < 12; at += 1) submit();
  await pass(30_000);
  expect(running()).toBe(12);
  goes(true);
  await pass(120_000);
  goes(false);
  for (let at = 0; at < 28; at += 1) submit();
  await pass(12_000);
  expect(running()).toBe(40);
});

test("one slow process of several behind the same address takes no slots from a worker", async () => {
  const { submit, running, pass, delay } = fleetOf({
    leaseSeconds: 30,
    workers: 1,
    concurrency: 50,
    handler_ms: 20_000,
  });
  let calls = 0;
  delay(() => ((calls += 1) % 4 === 0 ? 3_000 : 0));
  for (let at = 0; at < 1_000; at += 1) submit();
  await pass(60_000);
  let seconds = 0;
  for (let at = 0; at < 60; at += 1) {
    await pass(1_000);
    seconds += running();
  }
  expect(seconds / 60).toBeGreaterThan(40);
});
