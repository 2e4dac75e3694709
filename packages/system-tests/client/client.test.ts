import { forFile } from "@atlasqueue/harness";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { all, clientOf, failed, testApi } from "./test-api.ts";
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
  type Held,
} from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const sendEmail = defineJob("email.send", z.object({ to: z.email(), tries: z.coerce.number().default(1) }));
const leaseOne = async (queue: string) => {
  const [held] = await client.lease(queue, { workerId: "by-hand", waitSeconds: 10 });
  if (!held) throw new Error("nothing was leased");
  return held;
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
