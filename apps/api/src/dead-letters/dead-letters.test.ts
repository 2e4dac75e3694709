import { bulkAnswer, deadGroupPage, job, jobPage } from "@atlasqueue/contract";
import { claim, fail } from "@atlasqueue/core/internal/worker";
import { forFile, ownSignal } from "@atlasqueue/harness";
import { beforeEach, expect, test, afterAll } from "vitest";
import { pagesOf } from "../../test/pages-of.ts";
import { testApp } from "../../test/test-app.ts";

const signal = ownSignal();
afterAll(() => signal.close());
const api = forFile(() => testApp({ signal }));
beforeEach(async () => {
  await api.deps.database
    .sql`TRUNCATE atlasqueue.jobs, atlasqueue.job_attempts, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.job_groups`;
  await signal.deadLetters.clear();
});

let made = 0;
/** Jobs that died one after another; returns their ids. */
const dead = async (...requests: object[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const request of requests) {
    const created = await api.post(`dead-${(made += 1)}`, JSON.stringify({ type: "a", ...request }));
    const { id, queue } = job.parse(await created.json());
    const claimer = { tenant: "default", queues: [queue], worker_id: "w", lease_seconds: 30 };
    const [lease] = await claim(api.deps, [id], claimer);
    if (!lease) throw new Error("not claimed");
    await fail(api.deps, [{ lease, error: "E: no", verdict: { kind: "dead", reason: "not_retryable" } }]);
    await signal.take([{ tenant: "default", queue }], 100);
    ids.push(id);
  }
  await signal.deadLetters.add(ids);
  return ids;
};
const bulk = async (what: "replay" | "purge", body: object) => {
  const response = await api.send("POST", `/v1/dlq/${what}`, undefined, body);
  expect(response.status).toBe(200);
  return bulkAnswer.parse(await response.json());
};
const page = async (query = "") => jobPage.parse(await (await api.get(`/v1/dlq${query}`)).json());
const idsOf = async (query = "") => (await page(query)).items.map(({ id }) => id);
const counts = async () => {
  const { items } = (await (await api.get("/v1/queues")).json()) as { items: { queue: string; counts: object }[] };
  return Object.fromEntries(items.map((one) => [one.queue, one.counts]));
};

test("the list shows the most recently dead first, by queue and type, page by page", async () => {
  const [a, b, c] = await dead({ queue: "mail" }, { type: "b" }, { queue: "mail", type: "b" });
  await api.post(`alive-${made}`, { type: "a", queue: "mail" });
  expect(await idsOf()).toEqual([c, b, a]);
  expect(await idsOf("?queue=mail")).toEqual([c, a]);
  expect(await idsOf("?type=b")).toEqual([c, b]);
  expect(await idsOf("?queue=mail&type=b")).toEqual([c]);
  const first = await page("?limit=2");
  expect(first.items.map(({ id }) => id)).toEqual([c, b]);
  const second = await page(`?limit=2&cursor=${first.next_cursor}`);
  expect([second.items.map(({ id }) => id), second.next_cursor]).toEqual([[a], null]);
});

test("jobs that died in the same instant are each on one page", async () => {
  const ids = await dead({}, {}, {}, {}, {});
  await api.deps.database.sql`UPDATE atlasqueue.jobs SET dead_at = now()`;
  const pages = await pagesOf((more) => page(`?limit=2${more}`));
  expect(pages.flat().map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
});

test("a replay makes matching jobs new, signals them, and takes them out of the list; the rest stay", async () => {
  const [a, b, c] = await dead({ queue: "mail", priority: 3 }, { queue: "mail", type: "b" }, {});
  expect(await bulk("replay", { queue: "mail", type: "a" })).toEqual({ matched: 1, changed: 1 });
  expect(job.parse(await (await api.get(`/v1/jobs/${a}`)).json())).toMatchObject({
    status: "queued",
    priority: 3,
    attempts: 0,
    result: null,
    last_error: null,
    dead_reason: null,
    started_at: null,
    finished_at: null,
    worker_id: null,
  });
  const { items } = (await (await api.get(`/v1/jobs/${a}/attempts`)).json()) as { items: object[] };
  expect(items).toMatchObject([{ attempt: 1, outcome: "failed", error: "E: no" }]);
  expect((await signal.take([{ tenant: "default", queue: "mail" }], 10)).ids).toEqual([a]);
  expect(await signal.deadLetters.page(0, 10)).toEqual([c, b]);
  expect(await idsOf()).toEqual([c, b]);
  expect(await counts()).toMatchObject({ mail: { queued: 1, dead: 1 }, default: { queued: 0, dead: 1 } });
  expect(api.events).toContainEqual({ event: "jobs_replayed", tenant: "default", count: 1 });
});

test("a purge removes what matches, with its attempts; its key is free again", async () => {
  const [a, b] = await dead({ queue: "mail" }, {});
  expect(await bulk("purge", { queue: "mail" })).toEqual({ matched: 1, changed: 1 });
  expect((await api.get(`/v1/jobs/${a}`)).status).toBe(404);
  const { sql } = api.deps.database;
  expect(await sql`SELECT DISTINCT job_id FROM atlasqueue.job_attempts`).toEqual([{ job_id: b }]);
  expect(await signal.deadLetters.page(0, 10)).toEqual([b]);
  expect(Object.keys(await counts())).toEqual(["default"]);
  expect((await api.post(`dead-${made - 1}`, { type: "a", queue: "mail" })).status).toBe(201);
  expect(api.events).toContainEqual({ event: "jobs_purged", tenant: "default", count: 1 });
});

test.each(["replay", "purge"] as const)("a dry run of %s counts exactly and changes nothing", async (what) => {
  const ids = await dead({ queue: "mail" }, { type: "b" }, {});
  const { sql } = api.deps.database;
  const before = await sql`SELECT * FROM atlasqueue.jobs ORDER BY id`;
  expect(await bulk(what, { queue: "mail", dry_run: true })).toMatchObject({ matched: 1, changed: 0 });
  expect(await bulk(what, { type: "a", dry_run: true })).toMatchObject({ matched: 2, changed: 0 });
  expect(await bulk(what, { all: true, dry_run: true })).toMatchObject({ matched: 3, changed: 0 });
  expect(await bulk(what, { ids: [ids[0], ids[0]?.toUpperCase()], dry_run: true })).toMatchObject({
    matched: 1,
    changed: 0,
  });
  expect(await sql`SELECT * FROM atlasqueue.jobs ORDER BY id`).toEqual(before);
  expect((await signal.deadLetters.look()).length).toBe(3);
});

test("by ids, only dead jobs count: not live, unknown or another tenant's", async () => {
  const [a, b, foreign] = await dead({}, {}, {});
  const alive = job.parse(await (await api.post(`alive-${made}`, { type: "a" })).json()).id;
  await api.deps.database.sql`UPDATE atlasqueue.jobs SET tenant = 'acme' WHERE id = ${foreign ?? ""}`;
  const ids = [a, b, foreign, alive, "01920000-0000-7000-8000-000000000000"];
  expect(await bulk("replay", { ids })).toEqual({ matched: 2, changed: 2 });
  expect(await bulk("purge", { ids })).toEqual({ matched: 0, changed: 0 });
  expect(await bulk("replay", { all: true })).toEqual({ matched: 0, changed: 0 });
  const rows = await api.deps.database.sql`SELECT id FROM atlasqueue.jobs WHERE status = 'dead'`;
  expect(rows).toEqual([{ id: foreign }]);
});

test("dead letters are grouped by type and error, and a group is listed, replayed or purged by its fingerprint", async () => {
  await dead({}, {}, { type: "b" });
  const { sql } = api.deps.database;
  await sql`UPDATE atlasqueue.jobs SET error_fingerprint = 'ffffffffffffffff', last_error = 'Odd' WHERE type = 'b'`;
  const answer = await api.get("/v1/dlq/groups");
  const { items, next_cursor } = deadGroupPage.parse(await answer.json());
  expect(next_cursor).toBeNull();
  expect(items.map(({ type, count, error }) => [type, count, error])).toEqual([
    ["a", 2, "E: no"],
    ["b", 1, "Odd"],
  ]);
  const [a] = items;
  const query = `?type=a&fingerprint=${a?.fingerprint}`;
  expect(await idsOf(query)).toHaveLength(2);
  const listed = jobPage.parse(await (await api.get(`/v1/jobs?fingerprint=${a?.fingerprint}`)).json());
  expect(listed.items.map(({ status }) => status)).toEqual(["dead", "dead"]);
  expect(await bulk("purge", { fingerprint: "ffffffffffffffff", dry_run: true })).toMatchObject({
    matched: 1,
    changed: 0,
  });
  expect(await bulk("replay", { fingerprint: a?.fingerprint })).toEqual({ matched: 2, changed: 2 });
  const first = deadGroupPage.parse(await (await api.get("/v1/dlq/groups?limit=1")).json());
  expect(first.items.map(({ type }) => type)).toEqual(["b"]);
});

test("a dry run says until when it counted, and a purge by that time spares what died since", async () => {
  await dead({ type: "a" }, { type: "a" });
  const { sql } = api.deps.database;
  await sql`UPDATE atlasqueue.jobs SET dead_at = dead_at - interval '1 minute'`;
  const look = await bulk("purge", { type: "a", dry_run: true });
  expect(look).toEqual({ matched: 2, changed: 0, complete: true, died_before: expect.any(String) });
  await dead({ type: "a" });
  await sql`UPDATE atlasqueue.jobs SET dead_at = now() + interval '1 second' WHERE dead_at > now() - interval '30 seconds'`;
  expect(await bulk("purge", { type: "a", died_before: look.died_before })).toEqual({ matched: 2, changed: 2 });
  expect(await idsOf()).toHaveLength(1);
  const earlier = "2026-01-02T00:00:00.000Z";
  const before = await bulk("purge", { died_before: earlier, dry_run: true });
  expect(before).toMatchObject({ matched: 0, complete: true, died_before: earlier });
});

test("dead letters are chosen by when they died, both ends included", async () => {
  const ids = await dead({}, {}, {});
  const { sql } = api.deps.database;
  for (const [at, id] of ids.entries())
    await sql`UPDATE atlasqueue.jobs SET dead_at = ${`2026-01-0${at + 1}T00:00:00Z`} WHERE id = ${id}`;
  const count = async (choice: object) => (await bulk("replay", { ...choice, dry_run: true })).matched;
  expect(await count({ died_after: "2026-01-02T00:00:00Z" })).toBe(2);
  expect(await count({ died_before: "2026-01-02T01:00:00+01:00" })).toBe(2);
  expect(await count({ died_after: "2026-01-02T00:00:00Z", died_before: "2026-01-02T00:00:00Z" })).toBe(1);
  expect(await count({ died_after: "2026-01-04T00:00:00Z" })).toBe(0);
});
