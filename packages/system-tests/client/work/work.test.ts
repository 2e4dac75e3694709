import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { gate } from "../recorder.ts";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import {
  createClient,
  defineBatchHandler,
  defineHandler,
  defineJob,
  DoNotRetryError,
  RetryAfterError,
  type Handler,
  type HandlerFunction,
  type HandlerMiddleware,
  type Job,
  type Json,
  type JsonObject,
  type SubmitMiddleware,
} from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const work = workersOf(client);
const submit = async (queue: string, fields: { payload?: JsonObject; max_attempts?: number } = {}) =>
  (await client.submit({ type: "a", queue, ...fields })).id;

const sum = defineJob("sum", z.object({ a: z.number(), b: z.number().default(2) }));

test("a job is run by the handler for its type, and what that returns is its result", async () => {
  work("typed", [
    defineHandler(sum, ({ a, b }, { job }) => ({ sum: a + b, attempt: job.attempts })),
    defineHandler(defineJob("nothing", z.object({})), () => {}),
  ]);
  const { id } = await client.submit(sum, { a: 1 }, { queue: "typed" });
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", result: { sum: 3, attempt: 1 } });
  const nothing = await client.submit({ type: "nothing", queue: "typed" });
  expect(await client.wait(nothing.id)).toMatchObject({ status: "succeeded", result: null });
});

test("a batch handler gets jobs that are ready together, and each has its own result", async () => {
  const calls: number[] = [];
  const add = defineJob("add", z.object({ n: z.number() }));
  const handler = defineBatchHandler(add, { size: 3, waitMs: 60_000 }, async (jobs) => {
    calls.push(jobs.length);
    return jobs.map(({ payload: { n }, context: { job } }) =>
      n === 2 && job.attempts === 1 ? new Error("not yet") : n + 1,
    );
  });
  const submissions = [1, 2, 3].map((n) => ({ ...add.submission({ n }), queue: "batches" }));
  const jobs = await client.submitMany(submissions);
  work("batches", handler);
  await eventually(async () => expect((await client.get(jobs[1]?.id ?? "")).last_error).toBe("Error: not yet"));
  for (const n of [7, 8]) await client.submit(add, { n }, { queue: "batches" });
  for (const [at, result] of [2, 3, 4].entries())
    expect(await client.wait(jobs[at]?.id ?? "")).toMatchObject({
      status: "succeeded",
      result,
      attempts: at === 1 ? 2 : 1,
    });
  expect(calls).toEqual([3, 3]);
  expect(() => client.work("batches", handler, { concurrency: 2 })).toThrow("concurrency must be at least the size");
});

test("middleware goes around each handler and each submission, in order", async () => {
  const seen: string[] = [];
  const submits: SubmitMiddleware = async ({ type, payload }, next) => {
    payload["by"] = type;
    seen.push((await next()).id);
  };
  const adding = createClient({ url: api.url, middleware: [submits] });
  const around =
    (name: string): HandlerMiddleware<Job> =>
    async ({ job, queue, attempt, payload, signal }, next) => {
      if (name === "b" && job.type === "refused") throw new Error(`no ${queue} ${attempt} ${signal.aborted}`);
      return `${name}(${String(await next())} ${String((payload as JsonObject)["by"])})`;
    };
  work("around", ({ by }) => by, { middleware: [around("a"), around("b")] });
  const one = await adding.submit({ type: "one", queue: "around" });
  const many = await adding.submitMany([{ type: "two", queue: "around" }]);
  const flow = adding.flow();
  flow.add({ type: "three", queue: "around" });
  flow.afterAll({ type: "four", queue: "around" });
  const { jobs, last } = await flow.submit();
  const all = [one, ...many, ...jobs, last].map((job) => job?.id ?? "");
  for (const [at, name] of ["one", "two", "three", "four"].entries())
    expect(await client.wait(all[at] ?? "")).toMatchObject({ result: `a(b(${name} ${name}) ${name})` });
  expect(seen.toSorted()).toEqual(all.toSorted());
  const refused = await adding.submit({ type: "refused", queue: "around", max_attempts: 1 });
  expect(await client.wait(refused.id)).toMatchObject({ status: "dead", last_error: "Error: no around 1 false" });
  expect(() => adding.submitStream([])).toThrow("submitStream runs no middleware");
});

test("each queue has slots of its own: one whose jobs do not end leaves the other all of its own", async () => {
  const { open, opened } = gate();
  const now: Record<string, number> = { slow: 0, fast: 0 };
  const most = { ...now };
  const run: HandlerFunction<JsonObject> = async (_payload, { job: { queue } }) => {
    now[queue] = (now[queue] ?? 0) + 1;
    most[queue] = Math.max(most[queue] ?? 0, now[queue]);
    if (queue === "slow") await opened;
    now[queue] -= 1;
  };
  const jobsOf = (queue: string) => Array.from({ length: 8 }, () => ({ type: "a", queue }));
  const slow = await client.submitMany(jobsOf("slow"));
  const { worker } = work({ slow: 2, fast: 3 }, run);
  await eventually(() => expect(worker.running).toBe(2));
  for (const { id } of await client.submitMany(jobsOf("fast")))
    expect(await client.wait(id)).toMatchObject({ status: "succeeded", worker_id: worker.id });
  expect(now).toEqual({ slow: 2, fast: 0 });
  open();
  for (const { id } of slow) expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(most["slow"]).toBe(2);
  expect(() => client.work({ mail: 2, reports: 0 }, run)).toThrow("the slots of reports must be an integer from 1 to");
  expect(() => client.work({ mail: 2 }, run, { concurrency: 5 })).toThrow(
    "concurrency is for queues that share their slots",
  );
});

test.each<[string, Handler["run"], string]>([
  ["an error", () => Promise.reject(new TypeError("no address")), "TypeError: no address"],
  ["a thrown string", () => Promise.reject("text"), "NonError: text"],
  ["a result that is not JSON", async () => ({ n: 1n }), "ResultError: "],
  ["a result with a NUL", async () => "\0", "ResultError: the result at / must not contain the NUL"],
  ["a result that is too large", async () => "x".repeat(300_000), "ResultError: the result is 300002 bytes"],
  ["an error with a NUL", () => Promise.reject(new Error("a\0b")), "Error: a\u{fffd}b"],
  ["a last word", () => Promise.reject(new DoNotRetryError("gone")), "DoNotRetryError: gone"],
])("%s fails that job alone", async (name, run, says) => {
  const queue = `fails-${name.replaceAll(" ", "-")}`;
  const { named } = work(queue, { type: "a", options: {}, run });
  const id = await submit(queue, { max_attempts: name === "a last word" ? 5 : 1 });
  const dead = await client.wait(id);
  expect(dead.status).toBe("dead");
  expect(dead.last_error?.startsWith(says), dead.last_error ?? "").toBe(true);
  await eventually(() => expect(named("job_settled")).toMatchObject([{ outcome: "dead", error: dead.last_error }]));
});

test("a type without a handler and a payload that does not fit fail the job, not the worker", async () => {
  work("strange", [defineHandler(sum, ({ a }) => a)], { unknownTypeSeconds: 0 });
  const unknown = await submit("strange", { max_attempts: 1 });
  const bad = await client.submit({ type: "sum", queue: "strange", payload: { a: "1" }, max_attempts: 1 });
  expect((await client.wait(unknown)).last_error).toBe('UnknownType: no handler for type "a"');
  expect((await client.wait(bad.id)).last_error).toMatch(/^PayloadError: .*expected number/);
  const good = await client.submit(sum, { a: 1 }, { queue: "strange" });
  expect(await client.wait(good.id)).toMatchObject({ status: "succeeded" });
});

test("a failed job is retried after the delay its handler chose", async () => {
  const delays: number[] = [];
  work("retries", (_payload, { job }) => {
    delays.push(Date.now());
    if (job.attempts === 1) throw new RetryAfterError("busy", 300);
    return job.attempts;
  });
  expect(await client.wait(await submit("retries"))).toMatchObject({ status: "succeeded", result: 2 });
  expect((delays[1] ?? 0) - (delays[0] ?? 0)).toBeGreaterThanOrEqual(290);
});

test("a handler that runs too long is aborted and the attempt fails", async () => {
  let reason: unknown;
  work(
    "slow",
    defineHandler(
      defineJob("a", z.object({})),
      (_payload, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(new Error("aborted"));
          });
        }),
      { timeoutSeconds: 0.05 },
    ),
  );
  const dead = await client.wait(await submit("slow", { max_attempts: 1 }));
  expect(dead.last_error).toBe("TimeoutError: the handler ran longer than 0.05 s");
  expect(reason).toMatchObject({ name: "TimeoutError" });
});

test("as many handlers run at once as there are slots, and those that end together are settled together", async () => {
  const calls: string[] = [];
  const counting = createClient({
    url: api.url,
    fetch: (input, init) => (calls.push(String(input)), fetch(input, init)),
  });
  let running = 0;
  let most = 0;
  const ids = (await client.submitMany(Array.from({ length: 60 }, () => ({ type: "a", queue: "slots" })))).map(
    ({ id }) => id,
  );
  const steps = gate();
  const worker = counting.work(
    "slots",
    async () => {
      most = Math.max(most, (running += 1));
      if (running === 20) steps.open();
      await steps.opened;
      running -= 1;
    },
    { concurrency: 20 },
  );
  for (const id of ids) expect(await client.wait(id)).toMatchObject({ status: "succeeded" });
  await worker.stop();
  expect(most).toBe(20);
  const settling = calls.filter((url) => /\/(ack|settle)$/.test(url));
  expect(settling.some((url) => url.endsWith("/settle"))).toBe(true);
  expect(settling.length).toBeLessThan(30);
});

test("while the handler runs, its lease is renewed and its progress shown", async () => {
  const { opened, open } = gate();
  const { named } = work(
    "renewed",
    async (_payload, { progress }) => {
      progress({ done: 0.1 });
      progress({ done: 0.5 });
      await opened;
    },
    { leaseSeconds: 1 },
  );
  const id = await submit("renewed");
  await eventually(async () => expect((await client.get(id)).progress).toEqual({ done: 0.5 }));
  const { started_at } = await client.get(id);
  // Well past the end of the first lease, and no other worker gets it.
  await eventually(async () => {
    const now = await client.get(id);
    expect(Date.parse(now.locked_until ?? "") - Date.parse(started_at ?? "")).toBeGreaterThan(2_500);
  });
  expect(await client.lease("renewed", { workerId: "thief" })).toEqual([]);
  open();
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("lease_lost")).toEqual([]);
});

test.each([
  ["a NUL", "\0"],
  ["a BigInt", 1n],
])("progress that cannot be stored, %s, does not cost the lease", async (name, value) => {
  const { opened, open } = gate();
  const queue = `progress-${name.replace(" ", "-")}`;
  const handler: HandlerFunction<JsonObject> = async (_payload, { progress }) => {
    progress(value as Json);
    await opened;
  };
  const { named } = work(queue, handler, { leaseSeconds: 1 });
  const id = await submit(queue);
  await eventually(() => expect(named("progress_refused")).toMatchObject([{ job: { id } }]));
  await eventually(async () => {
    const { started_at, locked_until } = await client.get(id);
    expect(Date.parse(locked_until ?? "") - Date.parse(started_at ?? "")).toBeGreaterThan(1_200);
  });
  open();
  expect(await client.wait(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(named("api_unavailable")).toEqual([]);
});

test("a handler whose job is cancelled is aborted, and its slot is freed", async () => {
  let reason: unknown;
  const { named } = work(
    "cancelled",
    ({ waits }, { signal }) =>
      waits && new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
    { leaseSeconds: 1, concurrency: 1 },
  );
  const id = await submit("cancelled", { payload: { waits: true } });
  await eventually(async () => expect(named("handler_start")).toHaveLength(1));
  await client.cancel(id);
  await eventually(() => expect(reason).toMatchObject({ name: "LeaseLostError" }));
  expect(named("lease_lost")).toMatchObject([{ job: { id }, during: "handling" }]);
  expect(await client.wait(await submit("cancelled"))).toMatchObject({ status: "succeeded" });
  expect(await client.get(id)).toMatchObject({ status: "cancelled" });
});

test("without an observer, trouble goes to the console, without the token", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const lost = createClient({ url: `${api.url}/nowhere`, token: "aq_secret" }).work("default", () => {});
  await eventually(() => expect(warn).toHaveBeenCalled());
  await lost.stop();
  expect(String(warn.mock.calls[0])).toMatch(/^atlasqueue api_unavailable, during lease: NotFoundError: POST /);
  expect(String(warn.mock.calls)).not.toContain("aq_secret");
});

test("invalid options are refused", () => {
  expect(() => client.work("a", () => {}, { concurrency: 0 })).toThrow(/^concurrency must be an integer from 1 to/);
  expect(() => client.work("a", () => {}, { leaseSeconds: 3_601 })).toThrow(/^leaseSeconds must be/);
  expect(() => client.work("a", [])).toThrow("at least one handler");
  const handler = defineHandler(sum, () => {});
  expect(() => client.work("a", [handler, handler])).toThrow('two handlers for type "sum"');
  expect(() => defineHandler(sum, () => {}, { timeoutSeconds: -1 })).toThrow(/^timeoutSeconds of sum must be/);
});
