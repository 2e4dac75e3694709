import { forFile } from "@atlasqueue/harness";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { clientOf, failed, testApi, workersOf } from "../test-api.ts";
import {
  createClient,
  defineHandler,
  defineJob,
  DoNotRetryError,
  gather,
  JobCancelledError,
  JobFailedError,
  NotFoundError,
  ResultError,
  TimeoutError,
  waitAll,
} from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);
const work = workersOf(client);

const add = defineJob("add", z.object({ a: z.number(), b: z.number() }), z.object({ sum: z.number() }));

class OutOfStock extends DoNotRetryError {
  readonly data: { sku: string };
  constructor(sku: string) {
    super(`no ${sku}`);
    this.data = { sku };
  }
}

/** Two jobs of a queue; the first is leased by hand. */
async function twoJobs(queue: string) {
  const handles = await client.submitMany([
    { type: "a", queue, max_attempts: 1 },
    { type: "a", queue, max_attempts: 1 },
  ]);
  const [held] = await client.lease(queue, { workerId: "by-hand", waitSeconds: 10 });
  if (!held) throw new Error("two were submitted");
  return { handles, held };
}

test("a handle gives the status, and the result as the definition makes it", async () => {
  const handle = await client.submit(add, { a: 1, b: 2 }, { queue: "typed" });
  expect(await handle.status()).toBe("queued");
  expect(await failed(handle.result({ timeoutMs: 20 }))).toBeInstanceOf(TimeoutError);
  work(
    "typed",
    defineHandler(add, ({ a, b }) => ({ sum: a + b })),
  );
  const { sum } = await handle.result();
  expect(sum).toBe(3);
  expect(await handle.status()).toBe("succeeded");
  expect(await client.handle(handle.id, add).result()).toEqual({ sum: 3 });
  const strict = defineJob("add", z.object({}), z.object({ sum: z.string() }));
  expect(await failed(client.handle(handle.id, strict).result())).toBeInstanceOf(ResultError);
  expect(JSON.parse(JSON.stringify(handle))).toEqual({ id: handle.id, created: true, job: handle.job });
});

test("a failed job's error carries name, message and data", async () => {
  const handle = await client.submit({ type: "a", queue: "carries" });
  work("carries", () => {
    throw new OutOfStock("tea");
  });
  const error = await failed(handle.result());
  expect(error).toBeInstanceOf(JobFailedError);
  expect(error).toMatchObject({
    message: `job ${handle.id} is dead: DoNotRetryError: no tea`,
    error: { name: "DoNotRetryError", message: "no tea", data: { sku: "tea" } },
    job: { status: "dead", dead_reason: "not_retryable", result: { error_data: { sku: "tea" } } },
  });
});

test("data comes from the last error alone, and is gone when the job is retried", async () => {
  const { id } = await client.submit({ type: "a", queue: "last", max_attempts: 2 });
  for (const [attempt, status, result] of [
    // Due again at once, it may be ready by the time it is shown.
    [1, expect.stringMatching(/^(failed|queued)$/), null],
    [2, "dead", { error_data: { attempt: 2 } }],
  ] as const) {
    const [held] = await client.lease("last", { workerId: "w", waitSeconds: 10 });
    const error = Object.assign(new Error("x"), { data: { attempt } });
    if (held) expect(await client.nack(held, error)).toMatchObject({ status, result });
  }
  expect(await client.retry(id)).toMatchObject({ status: "queued", result: null });
});

test("a cancelled job and an unknown one have their own errors", async () => {
  const handle = await client.submit({ type: "a", queue: "ends" });
  const waiting = failed(handle.result());
  await client.cancel(handle.id);
  expect(await waiting).toBeInstanceOf(JobCancelledError);
  expect(await failed(client.handle(randomUUID()).result())).toBeInstanceOf(NotFoundError);
  expect(await failed(client.handle(randomUUID()).status())).toBeInstanceOf(NotFoundError);
});

test("gather rejects with the first failure and does not wait for the others", async () => {
  const { handles, held } = await twoJobs("first-failure");
  const gathered = failed(gather(handles));
  await client.nack(held, new Error("no"));
  expect(await gathered).toMatchObject({ name: "JobFailedError", error: { message: "no" } });
  expect(await gather([])).toEqual([]);
});

test("waitAll ends with the first job, or the first error, and says what is pending", async () => {
  const { handles, held } = await twoJobs("first");
  const pending = await waitAll(handles, { timeoutMs: 50 });
  expect(pending).toMatchObject({ done: [], slots: [{ kind: "pending" }, { kind: "pending" }] });
  expect(pending.pending).toEqual(handles);
  const first = waitAll(handles, { returnWhen: "first" });
  const firstError = waitAll(handles, { returnWhen: "first_error" });
  await client.ack(held, 1);
  expect(await first).toMatchObject({ slots: [{ kind: "succeeded", result: 1 }, { kind: "pending" }] });
  expect((await first).done).toEqual([handles[0]]);
  const [second] = await client.lease("first", { workerId: "by-hand", waitSeconds: 10 });
  if (second) await client.nack(second, "Odd: it is");
  const both = await firstError;
  expect(both).toMatchObject({
    pending: [],
    slots: [{ result: 1 }, { kind: "failed", error: { error: { name: "Odd" } } }],
  });
});

test("a signal ends a wait for many", async () => {
  const { handles } = await twoJobs("signal");
  const stop = new AbortController();
  const waits = [gather(handles, { signal: stop.signal }), waitAll(handles, { signal: stop.signal })].map(failed);
  stop.abort(new Error("enough"));
  expect((await Promise.all(waits)).map(String)).toEqual(["Error: enough", "Error: enough"]);
});

test("waits for many jobs take few requests, and stuck jobs hold up no others", { tags: ["slow"] }, async () => {
  let now = 0;
  let most = 0;
  const narrow = createClient({
    url: api.url,
    waitsMax: 4,
    fetch: async (input, init) => {
      most = Math.max(most, (now += 1));
      return fetch(input, init).finally(() => (now -= 1));
    },
  });
  const stuck = await narrow.submitMany(Array.from({ length: 10 }, () => ({ type: "a", queue: "stuck" })));
  const others = await narrow.submitMany(Array.from({ length: 200 }, () => ({ type: "a", queue: "flows" })));
  const stop = new AbortController();
  const stuckWaits = failed(gather(stuck, { signal: stop.signal, timeoutMs: Infinity }));
  const results = gather(others, { timeoutMs: 30_000 });
  work("flows", () => "done", { concurrency: 100 });
  expect(await results).toEqual(others.map(() => "done"));
  expect(most).toBeLessThanOrEqual(4);
  stop.abort();
  await stuckWaits;
});
