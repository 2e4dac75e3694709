import { expect, onTestFinished, test, vi } from "vitest";
import { succeeded } from "../attempt/outcome.ts";
import { createHeldJobs, heldJob, type Held } from "./held-jobs.ts";
import { createRunLoop, newStages, type JobSource } from "./run-loop.ts";

type Job = Held & { id: string };
const lease_ms = 12_000;

/** A loop over jobs that are given to it, and what became of them. No second of it passes. */
function looping({
  handle = async () => {},
  extend,
}: {
  handle?(job: Job): Promise<unknown>;
  extend?(job: Job): void;
}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const held = createHeldJobs<Job>(10, 10, () => {});
  const stages = newStages();
  const told: string[] = [];
  const source: JobSource<Job> = {
    take: () => new Promise((resolve) => stages.draining.signal.addEventListener("abort", () => resolve())),
    stopTaking: async () => {},
    extend_max: 10,
    async extend(jobs) {
      told.push(`extend ${jobs.map(({ id }) => id).join(" ")}`);
      for (const job of jobs) {
        job.renew_at_ms = performance.now() + lease_ms / 3;
        extend?.(job);
      }
    },
    settle(job) {
      told.push(`settle ${job.id}`);
      held.leave(job);
    },
    async release(jobs, why) {
      for (const job of jobs) {
        told.push(`release ${job.id}: ${why}`);
        held.abandon(job, new Error(why));
      }
      return jobs.length;
    },
    drained: async () => {},
    close() {},
  };
  const attempts = {
    isUnknown: ({ id }: Job) => id === "unknown",
    run: async (job: Job) => succeeded(await handle(job), undefined),
    mayGoOn: () => false,
    run_jobs_max: 1,
    hear: (event: string, { id }: Job) => void told.push(`${event} ${id}`),
    ended: () => {},
  };
  const loop = createRunLoop({ held, source, attempts, lease_ms, stages, tracing: undefined });
  const give = (left_ms: number, ...ids: string[]) => {
    const now = performance.now();
    const traced = { id: "", queue: "q", type: "a", attempts: 1 };
    const due = { traced, ends_at_ms: now + left_ms, renew_at_ms: now + lease_ms / 3 };
    const jobs = ids.map((id) => held.add({ ...heldJob(due), id }));
    return loop.start(jobs, now);
  };
  return { loop, give, told, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
}

test("jobs are handled and settled, and those without a handler go back", async () => {
  const { loop, give, told } = looping({});
  await give(lease_ms, "a", "unknown");
  await loop.stop(1_000);
  expect(told).toEqual(["job_type_unknown unknown", "release unknown: no handler", "handler_start a", "settle a"]);
});

test("leases are renewed together, and again when they are due", async () => {
  const { loop, give, told, pass } = looping({ handle: () => new Promise(() => {}) });
  await give(lease_ms, "a", "b");
  await pass(9_000);
  expect(told.filter((one) => one.startsWith("extend"))).toEqual(["extend a b", "extend a b"]);
  await Promise.all([loop.stop(0), pass(1)]);
  expect(told.slice(-2)).toEqual(["release a: the worker stops", "release b: the worker stops"]);
});

test("a job with less than half of its lease left begins once that is renewed, and goes back if it cannot be", async () => {
  let works = false;
  const { give, told, pass } = looping({
    extend(job) {
      if (!works) return;
      job.renewals += 1;
      job.ends_at_ms = performance.now() + lease_ms;
    },
  });
  await give(lease_ms / 3, "refused");
  await pass(lease_ms / 2);
  works = true;
  await give(lease_ms / 3, "renewed");
  await pass(1);
  expect(told.filter((one) => !one.startsWith("extend"))).toEqual([
    "release refused: the lease could not be renewed",
    "handler_start renewed",
    "settle renewed",
  ]);
});

test("a stop gives its handlers time until the deadline, and starts nothing more", async () => {
  const { loop, give, told, pass } = looping({
    handle: ({ id }) => new Promise((done) => setTimeout(done, Number(id))),
  });
  await give(lease_ms, "1000", "9000");
  const stopped = loop.stop(5_000);
  await give(lease_ms, "10");
  await pass(5_000);
  expect(await stopped).toMatchObject({ released: 1 });
  const others = told.filter((one) => !one.startsWith("extend")).slice(2);
  expect(others).toEqual(["release 10: the worker stops", "settle 1000", "release 9000: the worker stops"]);
});
