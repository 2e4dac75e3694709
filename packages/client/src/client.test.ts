import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { testApi, type TestApi } from "../test/test-api.ts";
import {
  createClient,
  defineJob,
  IdempotencyMismatchError,
  JobFinishedError,
  LeaseLostError,
  NotFoundError,
  NotRetryableError,
  PayloadError,
  TimeoutError,
  TooLargeError,
  ValidationError,
  type Client,
  type Held,
} from "./index.ts";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

const sendEmail = defineJob("email.send", z.object({ to: z.email(), tries: z.coerce.number().default(1) }));
const failed = async (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined).catch((error) => error);
const leaseOne = async (queue: string) => {
  const [held] = await client.lease(queue, { workerId: "by-hand", waitSeconds: 10 });
  if (!held) throw new Error("nothing was leased");
  return held;
};
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

test("a submitted job can be read, and the same key gives the same job", async () => {
  const job = { type: "a", payload: { n: 1 }, idempotency_key: randomUUID() };
  const first = await client.submit(job);
  expect(first).toMatchObject({ created: true, job: { type: "a", payload: { n: 1 }, status: "queued" } });
  const again = await client.submit(job);
  expect(again).toMatchObject({ id: first.id, created: false });
  expect(await client.get(first.id)).toEqual(first.job);
  const other = await failed(client.submit({ ...job, payload: { n: 2 } }));
  expect(other).toBeInstanceOf(IdempotencyMismatchError);
});

test("a definition checks the payload before anything is sent", async () => {
  const { job } = await client.submit(sendEmail, { to: "ada@example.org" }, { queue: "mail", priority: 3 });
  expect(job).toMatchObject({ type: "email.send", payload: { to: "ada@example.org" }, queue: "mail", priority: 3 });
  expect(await failed(client.submit(sendEmail, { to: "nobody" }))).toBeInstanceOf(PayloadError);
  // @ts-expect-error the payload is typed by the schema
  expect(await failed(client.submit(sendEmail, { too: "ada@example.org" }))).toBeInstanceOf(PayloadError);
});

test("an act with a key is done once, whoever sends it again, and says when it was not done now", async () => {
  const queue = "keyed";
  let replays = 0;
  const act = { idempotencyKey: "keyed", onReplayed: () => (replays += 1) };
  expect((await client.pause(queue, act)).paused).toBe(true);
  expect(replays).toBe(0);
  await client.resume(queue);
  expect((await client.pause(queue, act)).paused).toBe(false);
  expect(replays).toBe(1);
  expect(await failed(client.resume(queue, act))).toBeInstanceOf(IdempotencyMismatchError);
  expect(await failed(client.pause(queue, { idempotencyKey: "ä" }))).toBeInstanceOf(TypeError);
});

test("an invalid job's error names what is wrong", async () => {
  const error = await failed(client.submit({ type: "a", max_attempts: 26 }));
  expect(error).toBeInstanceOf(ValidationError);
  expect(error).toMatchObject({
    status: 422,
    errors: [{ pointer: "/max_attempts", message: "must be an integer from 1 to 25; got 26" }],
    message: expect.stringContaining("/max_attempts must be an integer from 1 to 25; got 26"),
    requestId: expect.stringMatching(/./),
  });
  expect(await failed(client.submit({ type: "a", payload: { x: "x".repeat(300_000) } }))).toBeInstanceOf(TooLargeError);
});

test("many jobs go in as few requests as possible, with answers in order", async () => {
  const jobs = Array.from({ length: 1_203 }, (_, n) =>
    sendEmail.submission({ to: `p${n}@example.org` }, { queue: "many" }),
  );
  const submitted = await client.submitMany(jobs);
  expect(submitted).toHaveLength(1_203);
  expect(new Set(submitted.map(({ id }) => id)).size).toBe(1_203);
  expect(await client.get(submitted[1_100]?.id ?? "")).toMatchObject({ payload: { to: "p1100@example.org" } });
  const large = Array.from({ length: 9 }, () => ({ type: "a", payload: { text: "é".repeat(100_000) } }));
  expect((await client.submitMany(large)).every(({ created }) => created)).toBe(true);
  expect(await client.submitMany([])).toEqual([]);
  const bad = await failed(client.submitMany([{ type: "a" }, { type: "" }]));
  expect(bad).toMatchObject({ name: "ValidationError", errors: [{ pointer: "/jobs/1/type" }] });
});

test("a list spans all pages, newest first, and ends at its limit", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.unshift((await client.submit({ type: "listed", queue: "lists" })).id);
  const listed = async (filter: object) => (await all(client.list({ queue: "lists", ...filter }))).map(({ id }) => id);
  expect(await listed({ pageSize: 3 })).toEqual(ids);
  expect(await listed({ pageSize: 3, limit: 5 })).toEqual(ids.slice(0, 5));
  expect(await listed({ type: "other" })).toEqual([]);
  expect(await listed({ status: "succeeded" })).toEqual([]);
  expect(await failed(all(client.list({ pageSize: 201 })))).toBeInstanceOf(ValidationError);
});

test("a page may be empty and still be followed by another", async () => {
  const pages = [
    { items: [], next_cursor: "two" },
    { items: [{ id: "1" }], next_cursor: null },
  ];
  const asked: string[] = [];
  const paged = createClient({
    url: api.url,
    fetch: async (input) => (asked.push(String(input)), Response.json(pages[asked.length - 1])),
  });
  expect(await all(paged.list())).toEqual([{ id: "1" }]);
  expect(asked[1]).toContain("cursor=two");
});

test("wait resolves when the job is final, or rejects with a TimeoutError", async () => {
  const { id } = await client.submit({ type: "a", queue: "waits" });
  const early = await failed(client.wait(id, { timeoutMs: 50 }));
  expect(early).toBeInstanceOf(TimeoutError);
  expect(String(early)).toContain(`job ${id} was queued after 50 ms`);
  const waiting = client.wait(id);
  await client.ack(await leaseOne("waits"), { sent: true });
  expect(await waiting).toMatchObject({ status: "succeeded", result: { sent: true } });
  expect(await failed(client.wait(randomUUID()))).toBeInstanceOf(NotFoundError);
});

test("wait outlives an API that goes away and comes back", async () => {
  const { id } = await client.submit({ type: "a", queue: "outlives" });
  const waiting = client.wait(id, { timeoutMs: 30_000 });
  await api.stop();
  expect(await failed(client.get(id, { retries: 0 }))).toMatchObject({ name: "NetworkError", refused: true });
  await api.start();
  await client.cancel(id);
  expect(await waiting).toMatchObject({ status: "cancelled" });
});

test("a signal ends a wait", async () => {
  const { id } = await client.submit({ type: "a", queue: "waits" });
  const stop = new AbortController();
  const waiting = failed(client.wait(id, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  expect(String(await waiting)).toBe("Error: enough");
});

test("a job is cancelled, retried and explained, and its attempts are listed", async () => {
  const { id } = await client.submit({ type: "a", queue: "life", max_attempts: 1 });
  expect(await client.explain(id)).toMatchObject({
    status: "queued",
    reasons: [{ code: "no_worker" }, { code: "waiting_for_worker" }],
  });
  expect(await failed(client.retry(id))).toBeInstanceOf(NotRetryableError);
  const nacked = await client.nack(await leaseOne("life"), new TypeError("no address"));
  expect(nacked).toMatchObject({ status: "dead", last_error: "TypeError: no address" });
  expect(await client.attempts(id)).toMatchObject([{ attempt: 1, outcome: "failed", error: "TypeError: no address" }]);
  expect(await client.retry(id)).toMatchObject({ status: "queued", attempts: 0 });
  expect(await client.cancel(id)).toMatchObject({ status: "cancelled" });
  expect(await failed(client.cancel(id))).toBeInstanceOf(JobFinishedError);
  const nobody = randomUUID();
  for (const call of [client.get, client.cancel, client.retry, client.attempts, client.explain])
    expect(await failed(call(nobody))).toBeInstanceOf(NotFoundError);
  expect(await failed(client.get("not-an-id"))).toBeInstanceOf(ValidationError);
});

test("a lease is renewed, shown and settled by hand; someone else's is a LeaseLostError", async () => {
  const { id } = await client.submit({ type: "a", queue: "hand" });
  const held = await leaseOne("hand");
  const { locked_until } = await client.heartbeat(held, { leaseSeconds: 600, progress: { done: 0.5 } });
  expect(Date.parse(locked_until)).toBeGreaterThan(Date.parse(held.locked_until));
  expect(await client.get(id)).toMatchObject({ progress: { done: 0.5 }, worker_id: "by-hand" });
  const stale = { ...held, lease_token: randomUUID() };
  for (const call of [client.ack, client.heartbeat, (of: Held) => client.nack(of, "x")])
    expect(await failed(call(stale))).toBeInstanceOf(LeaseLostError);
  expect(await client.ack(held)).toMatchObject({ status: "succeeded", result: null });
  expect(await client.ack(held)).toMatchObject({ status: "succeeded" });
});

test("many jobs are settled at once, each with its outcome", async () => {
  await client.submitMany([
    { type: "a", queue: "both" },
    { type: "a", queue: "both", max_attempts: 1 },
  ]);
  const [first, second] = await client.lease("both", { workerId: "w", maxJobs: 2, waitSeconds: 5 });
  if (!first || !second) throw new Error("two were submitted");
  const fields = ({ job, lease_token }: typeof first) => ({ id: job.id, lease_token });
  const outcomes = await client.settle({ acks: [fields(first)], nacks: [{ ...fields(second), error: "x" }] });
  expect(outcomes).toEqual({
    acks: [{ id: first.job.id, outcome: "succeeded" }],
    nacks: [{ id: second.job.id, outcome: "dead" }],
  });
});

test("a queue is limited, and its limits are replaced", async () => {
  const rate = { limit: 5, period_seconds: 60 };
  const unlimited = { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
  expect((await client.setLimits("limited", { concurrency: 2, rate })).limits).toEqual({
    ...unlimited,
    concurrency: 2,
    rate,
  });
  const fair = { fair_by: "group", group_concurrency: 20 } as const;
  expect((await client.setLimits("limited", fair)).limits).toEqual({ ...unlimited, ...fair });
  expect((await client.setLimits("limited", {})).limits).toEqual(unlimited);
  expect(await failed(client.setLimits("limited", { concurrency: 0 }))).toBeInstanceOf(ValidationError);
});

test("a queue is paused, explained, resumed and counted", async () => {
  expect(await client.pause("paused")).toMatchObject({ queue: "paused", paused: true });
  expect(await client.pause("paused")).toMatchObject({ paused: true });
  const { id } = await client.submit({ type: "a", queue: "paused" });
  expect(await client.lease("paused", { workerId: "w" })).toEqual([]);
  expect(await client.explain(id)).toMatchObject({ reasons: [{ code: "no_worker" }, { code: "queue_paused" }, {}] });
  expect(await client.resume("paused")).toMatchObject({ paused: false, counts: { queued: 1 } });
  expect(await client.lease("paused", { workerId: "w" })).toHaveLength(1);
  expect(await client.queues()).toContainEqual(
    expect.objectContaining({ queue: "paused", paused: false, counts: expect.objectContaining({ running: 1 }) }),
  );
  expect(await client.scaling("paused")).toMatchObject({ queue: "paused", running: 1, backlog: 1 });
  const { items, next_cursor } = await client.queuePage({ limit: 1 });
  expect(items).toHaveLength(1);
  const rest = await client.queuePage(next_cursor === null ? {} : { cursor: next_cursor });
  expect([...items, ...rest.items].map(({ queue }) => queue)).toEqual(
    (await client.queues()).map(({ queue }) => queue),
  );
});

test("a schedule is put, listed, paused, resumed and deleted", async () => {
  const { schedules } = client;
  const job = { type: "report.send", payload: { to: "ada@example.org" } };
  const put = await schedules.put({ name: "report", cron: "30 2 * * *", timezone: "Europe/Berlin", job });
  expect(put).toMatchObject({ paused: false, catch_up: "one", job });
  expect(put.next_runs).toHaveLength(5);
  expect(await schedules.get("report")).toEqual(put);
  expect(await all(schedules.list())).toEqual([put]);
  expect(await schedules.pause("report")).toMatchObject({ paused: true });
  expect(await schedules.resume("report")).toMatchObject({ paused: false });
  await schedules.delete("report");
  expect(await failed(schedules.get("report"))).toBeInstanceOf(NotFoundError);
  expect(await failed(schedules.put({ name: "never", cron: "0 0 30 2 *", job }))).toBeInstanceOf(ValidationError);
});

test("a client says who it is to the API, and sends its own headers with every call", async () => {
  const sent: (string | null)[] = [];
  const own = createClient({
    url: api.url,
    headers: { "x-atlasqueue-dashboard": "1" },
    fetch: (input, init) => {
      sent.push(new Headers(init?.headers).get("x-atlasqueue-dashboard"));
      return fetch(input, init);
    },
  });
  expect(await own.session.get()).toMatchObject({ auth: "disabled", signed_in: true });
  expect(await own.session.open("any")).toMatchObject({ auth: "disabled" });
  expect(await own.session.close()).toMatchObject({ auth: "disabled" });
  expect(sent).toEqual(["1", "1", "1"]);
});
