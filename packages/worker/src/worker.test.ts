import { defineJob } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { enqueue } from "@atlasqueue/core/internal/tools";
import { firstIdAt } from "../../core/src/maintenance/retention.ts";
import { eventually, submission } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { any, drivers, gate, main, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, claim, deps, named, read, signal, sql, useSignal, work } = workerHarness();

describe.each(Object.entries(drivers))("with %s", (name, driver) => {
  beforeEach(() => useSignal(driver));

  test("a job goes to its handler, and the result comes back", async () => {
    const seen: unknown[] = [];
    work([
      defineHandler("sum", z.object({ a: z.number(), b: z.number().default(2) }), ({ a, b }, { job }) => {
        seen.push(job.attempt, job.type, job.tenant);
        return { sum: a + b };
      }),
    ]);
    const [id] = await add({ type: "sum", payload: { a: 1 } });
    await becomes(id, { status: "succeeded", result: { sum: 3 }, attempts: 1, last_error: null });
    expect(seen).toEqual([1, "sum", "default"]);
  });

  test("jobs from before the worker started are run, higher priorities first, then oldest first", async () => {
    const order: unknown[] = [];
    const ids = await add(
      { payload: { n: 1 } },
      { payload: { n: 2 } },
      { payload: { n: 3 }, priority: 4 },
      { payload: { n: 4 } },
    );
    work([defineHandler("noop", any, ({ n }) => void order.push(n))], { concurrency: 1 });
    for (const id of ids) await becomes(id, { status: "succeeded" });
    expect(order).toEqual([3, 1, 2, 4]);
  });

  test("a job that fails every time is dead, and once among the dead letters", async () => {
    work([defineHandler("bad", any, () => Promise.reject(new Error("no")))]);
    const [id] = await add({ type: "bad", max_attempts: 3 });
    await becomes(id, { status: "dead", attempts: 3, dead_reason: "attempts_exhausted", last_error: "Error: no" });
    const listed = name === "redis" ? [id] : [];
    await eventually(async () => expect(await signal().deadLetters.page(0, 10)).toEqual(listed));
  });

  test("a scheduled job runs when its time has come", async () => {
    work([defineHandler("noop", any, () => null)]);
    const [id] = await add({ delay_seconds: 1.5 });
    expect(await read(id)).toMatchObject({ status: "scheduled" });
    await becomes(id, { status: "succeeded" });
    const job = await read(id);
    expect(job?.started_at?.getTime()).toBeGreaterThanOrEqual(job?.run_at.getTime() ?? Infinity);
  });
});

test("a handler of a definition gets what the definition makes of the payload", async () => {
  const sum = defineJob("sum", z.object({ a: z.number(), b: z.number().default(2) }));
  work([defineHandler(sum, ({ a, b }) => a + b, { timeoutSeconds: 60 })]);
  const [id, bad] = await add(sum.submission({ a: 1 }), { type: "sum", payload: {}, max_attempts: 1 });
  await becomes(id, { status: "succeeded", result: 3 });
  await becomes(bad, { status: "dead", last_error: expect.stringMatching(/^PayloadError: .*at a$/) });
});

test("a failing job is retried until it succeeds, and its errors are kept", async () => {
  work([
    defineHandler("flaky", any, (_payload, { job }) => {
      if (job.attempt < 3) throw new TypeError(`attempt ${job.attempt}`);
      return job.last_error;
    }),
  ]);
  const [id] = await add({ type: "flaky" });
  await becomes(id, { status: "succeeded", attempts: 3, result: "TypeError: attempt 2" });
  const history =
    await sql()`SELECT attempt, outcome, error FROM atlasqueue.job_attempts WHERE job_id = ${id ?? ""} ORDER BY id`;
  expect(history).toEqual([
    { attempt: 1, outcome: "failed", error: "TypeError: attempt 1" },
    { attempt: 2, outcome: "failed", error: "TypeError: attempt 2" },
  ]);
});

test("no more handlers run at once than concurrency allows", async () => {
  let now = 0;
  let most = 0;
  const { open, opened } = gate();
  work(
    [
      defineHandler("noop", any, async () => {
        most = Math.max(most, (now += 1));
        if (most === 3) open();
        await opened;
        now -= 1;
      }),
    ],
    { concurrency: 3 },
  );
  const ids = await add(...Array.from({ length: 12 }, () => ({})));
  for (const id of ids) await becomes(id, { status: "succeeded" });
  expect(most).toBe(3);
});

test("jobs without a signal are found in every queue of a fleet whose workers serve different ones", async () => {
  useSignal(drivers.redis);
  const queues = ["a", "b", "c"];
  for (const queue of queues) work([defineHandler("noop", any, () => null)], { queues: [queue] });
  const ids = await Promise.all(
    queues.map(async (queue) => {
      const [outcome] = await enqueue(deps(), [submission({ queue })], { idempotency_ttl_seconds: 60 });
      return outcome && "job" in outcome ? outcome.job.id : "";
    }),
  );
  for (const id of ids) await becomes(id, { status: "succeeded" });
});

describe("leases", () => {
  test("a lease is renewed while the handler runs, so no one else gets the job", async () => {
    const { open, opened } = gate();
    work([defineHandler("noop", any, () => opened)], { leaseSeconds: 0.6 });
    work([defineHandler("noop", any, () => opened)], { leaseSeconds: 0.6 });
    const [id] = await add({});
    await becomes(id, { status: "running" });
    const first = (await read(id))?.locked_until?.getTime() ?? Infinity;
    await eventually(async () => expect((await read(id))?.locked_until?.getTime()).toBeGreaterThan(first + 1_500));
    open();
    await becomes(id, { status: "succeeded", attempts: 1 });
  });

  test("a handler whose lease is lost is aborted, and its result is refused", async () => {
    const aborted = gate();
    work(
      [
        defineHandler("noop", any, (_payload, { signal: stop, job }) => {
          if (job.attempt > 1) return "second";
          return new Promise((resolve) => stop.addEventListener("abort", () => (aborted.open(), resolve("first"))));
        }),
      ],
      { leaseSeconds: 0.3 },
    );
    const [id] = await add({});
    await becomes(id, { status: "running" });
    await sql()`UPDATE atlasqueue.jobs SET status = 'queued', ready_at = now(), lease_token = NULL WHERE id = ${id ?? ""}`;
    await aborted.opened;
    expect(named("lease_lost")).toHaveLength(1);
    await becomes(id, { status: "succeeded", result: "second", attempts: 2 });
  });

  test("a vanished worker's jobs are run by another", async () => {
    const [id] = await add({});
    expect(await claim([id ?? ""], { lease_seconds: 0.3 })).toHaveLength(1);
    work([defineHandler("noop", any, () => null)], {}, { recovery_gate_ms: 500 });
    await becomes(id, { status: "succeeded", attempts: 2 });
  });
});

test("claims settled to the last job are forgotten, so that the sweep has nothing to look at", async () => {
  work([defineHandler("noop", any, () => null)]);
  const ids = await add(...Array.from({ length: 30 }, () => ({})));
  for (const id of ids) await becomes(id, { status: "succeeded" });
  await eventually(async () => expect(await sql()`SELECT FROM atlasqueue.claims`).toHaveLength(0));
});

describe("a stopping worker", () => {
  test("finishes what runs and takes nothing new", async () => {
    const { open, opened } = gate();
    const started = gate();
    const run = () => {
      started.open();
      return opened;
    };
    const worker = work([defineHandler("noop", any, run)], { concurrency: 1 });
    const [first, second] = await add({}, {});
    await started.opened;
    const stopping = worker.stop({ deadlineMs: 60_000 });
    open();
    await stopping;
    expect(await read(first)).toMatchObject({ status: "succeeded" });
    expect(await read(second)).toMatchObject({ status: "queued", attempts: 0 });
  });

  test("gives back what is not done at the deadline, with no attempt spent, and aborts the handler", async () => {
    const started = gate();
    const aborted = gate();
    const run = (_payload: unknown, { signal: stop }: { signal: AbortSignal }) => {
      stop.addEventListener("abort", aborted.open);
      started.open();
      return new Promise<never>(() => {});
    };
    const worker = work([defineHandler("noop", any, run)]);
    const [id] = await add({});
    await started.opened;
    await worker.stop({ deadlineMs: 50 });
    await aborted.opened;
    expect(await read(id)).toMatchObject({ status: "queued", attempts: 0, worker_id: null });
    expect((await signal().look(main)).length).toBe(1);
  });
});

test("a handler whose results are not kept may return anything, and the job's result is null", async () => {
  work([defineHandler("noop", any, () => () => "a function", { keepResult: false })]);
  const [id] = await add({});
  await becomes(id, { status: "succeeded", result: null });
});

test("results are cleared when their time is up", async () => {
  work([defineHandler("noop", any, () => "kept for a minute")]);
  const [id] = await add({});
  await becomes(id, { status: "succeeded", result: "kept for a minute" });
  // As if it had been submitted and finished an hour ago.
  const hour_ago = firstIdAt(new Date(Date.now() - 3_600_000));
  await sql()`UPDATE atlasqueue.jobs SET finished_at = finished_at - interval '1 hour', id = ${hour_ago} WHERE id = ${id ?? ""}`;
  // Another fleet, in which the cleaner's turn is still free.
  useSignal(memorySignal);
  work([], { resultTtlSeconds: 60 });
  await becomes(hour_ago, { status: "succeeded", result: null });
});
