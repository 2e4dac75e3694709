import { auditPage, job, oneQueue, queue, queuePage } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApp } from "../../test/test-app.ts";

const signal = memorySignal();
const api = forFile(() => testApp({ signal }));

const post = (path: string, body?: object) => api.send("POST", `/v1${path}`, undefined, body);
const queues = async () => queuePage.parse(await (await api.get("/v1/queues")).json()).items;

test("queues show how many jobs they have in each status, and since when the oldest has waited", async () => {
  const first = job.parse(await (await api.post("q-1", { type: "a", queue: "mail" })).json());
  await api.post("q-2", { type: "a", queue: "mail", priority: 5 });
  await api.post("q-3", { type: "a", queue: "mail", delay_seconds: 60 });
  const cancelled = job.parse(await (await api.post("q-4", { type: "a", queue: "other" })).json());
  await post(`/jobs/${cancelled.id}/cancel`);
  const [mail, other, ...more] = await queues();
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ queue: "mail", paused: false, oldest_queued_at: first.created_at });
  expect(mail?.counts).toMatchObject({ queued: 2, scheduled: 1, running: 0 });
  expect(other).toMatchObject({ queue: "other", oldest_queued_at: null });
  expect(other?.counts).toMatchObject({ queued: 0, cancelled: 1 });
});

test("a paused queue hands out nothing until it is resumed, not even to waiting calls", async () => {
  expect(queue.parse(await (await post("/queues/held/pause")).json())).toMatchObject({ queue: "held", paused: true });
  expect((await post("/queues/held/pause")).status).toBe(200);
  const created = job.parse(await (await api.post("q-5", { type: "a", queue: "held" })).json());
  const lease = (wait_seconds: number) => post("/queues/held/lease", { worker_id: "w", wait_seconds });
  expect(await (await lease(0)).json()).toMatchObject({ jobs: [] });
  expect(await (await api.get(`/v1/jobs/${created.id}/explain`)).json()).toMatchObject({
    status: "queued",
    reasons: [{ code: "no_worker" }, { code: "queue_paused" }, { code: "waiting_for_worker" }],
  });
  const waiting = lease(30);
  const resumed = queue.parse(await (await post("/queues/held/resume")).json());
  expect(resumed).toMatchObject({ paused: false });
  expect(await (await waiting).json()).toMatchObject({ jobs: [{ job: { id: created.id } }] });
});

test("a queue without jobs can be paused and resumed, and is forgotten then", async () => {
  await post("/queues/empty/pause");
  expect((await queues()).map((one) => one.queue)).toContain("empty");
  expect(queue.parse(await (await post("/queues/empty/resume", {})).json()).counts.queued).toBe(0);
  expect((await queues()).map((one) => one.queue)).not.toContain("empty");
});

test("a queue's defaults hold for new jobs, are shown, audited and cleared, and are the tenant's own", async () => {
  const put = async (body: object) => {
    const answer = await api.send("PUT", "/v1/queues/set/defaults", undefined, body);
    expect(answer.status).toBe(200);
    return queue.parse(await answer.json()).defaults;
  };
  const system = {
    backoff: null,
    max_attempts: null,
    timeout_seconds: null,
    retention_seconds: null,
    result_ttl_seconds: null,
  };
  const defaults = {
    max_attempts: 2,
    backoff: { kind: "fixed", base_seconds: 1 },
    timeout_seconds: 9,
    retention_seconds: 60,
  };
  expect(await put(defaults)).toEqual({ ...system, ...defaults });
  const add = async (key: string, more = {}) =>
    job.parse(await (await api.post(key, { type: "a", queue: "set", ...more })).json());
  expect(await add("set-1")).toMatchObject({ max_attempts: 2, timeout_seconds: 9, retention_seconds: 60 });
  expect(await add("set-2", { max_attempts: 7 })).toMatchObject({ max_attempts: 7, timeout_seconds: 9 });
  const stream = await api.send("POST", "/v1/jobs/batch", undefined, {
    jobs: [
      { type: "a", queue: "set", idempotency_key: "set-3" },
      { type: "a", queue: "set", idempotency_key: "set-4" },
    ],
  });
  expect(stream.status).toBe(201);
  const { sql } = api.deps.database;
  expect(
    await sql`SELECT max_attempts, result_ttl_seconds FROM atlasqueue.jobs WHERE queue = 'set' ORDER BY id OFFSET 2`,
  ).toEqual([
    { max_attempts: 2, result_ttl_seconds: null },
    { max_attempts: 2, result_ttl_seconds: null },
  ]);
  expect((await queues()).find((one) => one.queue === "set")?.defaults).toMatchObject(defaults);
  expect(await put({ max_attempts: null, timeout_seconds: 8 })).toEqual({ ...system, timeout_seconds: 8 });
  expect(await put({})).toEqual(system);
  expect(await add("set-5")).toMatchObject({ max_attempts: 5, timeout_seconds: null });
  const [act] = auditPage.parse(await (await api.get("/v1/audit?action=queue.defaults")).json()).items.toReversed();
  expect(act).toMatchObject({ action: "queue.defaults", target: "set", detail: defaults });
});

test("one queue says how much of its rate is used up, and one without jobs or settings is unknown", async () => {
  const one = async () => oneQueue.parse(await (await api.get("/v1/queues/paced")).json());
  expect((await api.get("/v1/queues/paced")).status).toBe(404);
  for (const n of [1, 2, 3]) await api.post(`paced-${n}`, { type: "a", queue: "paced" });
  expect(await one()).toMatchObject({ queue: "paced", counts: { queued: 3 }, starts: null });
  await api.send("PUT", "/v1/queues/paced/limits", undefined, { rate: { limit: 2, period_seconds: 3_600 } });
  expect(await one()).toMatchObject({ limits: { rate: { limit: 2 } }, starts: 0 });
  // The mark that wakes a worker follows the answer.
  await eventually(async () =>
    expect(await signal.look({ tenant: "default", queue: "paced" })).toMatchObject({ marked: true, length: 1 }),
  );
  await post("/queues/paced/lease", { worker_id: "w", max_jobs: 10 });
  expect(await one()).toMatchObject({ counts: { queued: 1, running: 2 }, starts: 2 });
});

test("the queues come in pages, in the order of their names, with a cursor that is good for nothing else", async () => {
  const sql = api.deps.database.sql;
  await sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) SELECT 'default', 'page-' || n, 1 FROM generate_series(1, 1005) AS n`;
  const page = async (query: string) => queuePage.parse(await (await api.get(`/v1/queues${query}`)).json());
  const first = await page("");
  expect(first.items).toHaveLength(1_000);
  const second = await page(`?cursor=${first.next_cursor}`);
  expect(second.next_cursor).toBeNull();
  const names = [...first.items, ...second.items].map((one) => one.queue);
  expect(names).toEqual([...new Set(names)].toSorted());
  expect(names.filter((name) => name.startsWith("page-"))).toHaveLength(1_005);
  expect((await page("?limit=2")).items.map((one) => one.queue)).toEqual(names.slice(0, 2));
  expect((await api.get(`/v1/jobs?cursor=${first.next_cursor}`)).status).toBe(400);
  await sql`DELETE FROM atlasqueue.queue_counts WHERE queue LIKE 'page-%'`;
});
