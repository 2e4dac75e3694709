import { forFile, recordEvents, submission, testDatabase } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import { listActs } from "../audit/list.ts";
import { recordActs } from "../audit/record.ts";
import { listDeadGroups } from "../dead-letters/groups.ts";
import { listDead } from "../dead-letters/list.ts";
import { createReplay } from "../operations/create.ts";
import { listOperations } from "../operations/find.ts";
import { heldGroups } from "../groups/held.ts";
import { listAttempts } from "../jobs/attempts.ts";
import { listJobs } from "../jobs/list.ts";
import { searchJobs } from "../jobs/search.ts";
import { liveLook } from "../live/look.ts";
import { summaryOf } from "./summary.ts";
import { queueStats } from "../queues/stats.ts";
import { readThroughput } from "../rollups/throughput.ts";
import { listSchedules } from "../schedules/list.ts";
import { enqueue } from "../submit/enqueue.ts";

// What the dashboard's pages ask first reads a page of rows, not a system's. How long that takes beside two million jobs
// is measured by `pnpm bench:pages`; here it is how many rows are read, which no machine changes. The workers' page asks
// Redis alone.
const jobs = 6_000;
const dead = 400;
const queues = 400;
const page = 50;

const own = forFile(testDatabase);
const observe = recordEvents().observe;
beforeAll(async () => {
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, run_at, ready_at, dead_at, created_at, updated_at, started_at, finished_at,
                                 attempts, max_attempts, dead_reason, last_error, error_fingerprint, payload)
    SELECT ('0199' || lpad(to_hex(n), 8, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
           'default', 'queue-' || n % ${queues}, 'mail.send', status, at, CASE status WHEN 'queued' THEN at END, CASE status WHEN 'dead' THEN at END,
           at, at, CASE WHEN status <> 'queued' THEN at END, CASE WHEN status <> 'queued' THEN at END, CASE status WHEN 'queued' THEN 0 ELSE 3 END, 5,
           CASE status WHEN 'dead' THEN 'attempts_exhausted' END, CASE status WHEN 'dead' THEN 'HttpError: 41' || n / 15 % 5 END,
           CASE status WHEN 'dead' THEN 'http-41' || n / 15 % 5 END, '{"to":"a"}'
    FROM (SELECT n, now() - interval '1 hour' + interval '0.5 seconds' * n AS at,
                 CASE WHEN n % 15 = 0 THEN 'dead' WHEN n % 60 = 1 THEN 'queued' ELSE 'succeeded' END AS status
          FROM generate_series(1, ${jobs}) AS n) AS made`;
  await own.database.sql`
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error)
    SELECT tenant, id, attempt, 'box', created_at, created_at, 'failed', 'HttpError: 502' FROM atlasqueue.jobs, generate_series(1, 3) AS attempt
    WHERE status = 'dead'`;
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded, dead, queued)
    SELECT tenant, queue, count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE status = 'dead'), count(*) FILTER (WHERE status = 'queued')
    FROM atlasqueue.jobs GROUP BY tenant, queue`;
  const captures = Array.from({ length: 24 }, (_, at) =>
    submission({ queue: "payments", group: `customer-${at % 5}` }),
  );
  await enqueue({ database: own.database, observe }, captures, { idempotency_ttl_seconds: 60 });
  // As many of each as make a plan that reads them all show.
  await own.database.sql`
    INSERT INTO atlasqueue.queue_counts (tenant, queue, succeeded) SELECT 'default', 'past-' || n, 1 FROM generate_series(1, 3000) AS n`;
  await own.database.sql`
    INSERT INTO atlasqueue.schedules (tenant, name, cron, timezone, catch_up, job, created_at, updated_at)
    SELECT 'default', 'every-' || n, '0 5 * * *', 'UTC', 'none', '{"type":"a"}', now(), now() FROM generate_series(1, 3000) AS n`;
  const actor = { kind: "token", token_id: null, name: "ops" } as const;
  const act = {
    tenant: "default",
    actor,
    target: null,
    count: null,
    detail: null,
    request_id: null,
    address: null,
    refused: null,
  };
  for (let part = 0; part < 6; part += 1)
    await recordActs(
      own,
      Array.from({ length: 500 }, (_, at) => ({ ...act, action: at % 2 === 0 ? "queue.pause" : "queue.resume" })),
    );
  const deps = { database: own.database, observe };
  await createReplay(deps, { tenant: "default", filter: { type: "mail.send" } }, actor);
  await own.database.sql`
    INSERT INTO atlasqueue.operations
    SELECT (jsonb_populate_record(known, jsonb_build_object('id', gen_random_uuid(), 'status', 'done'))).*
    FROM atlasqueue.operations AS known, generate_series(1, 3000)`;
  await own.database.sql`ANALYZE`;
});

const read = (ask: Parameters<typeof rowsRead>[1], table?: string) => rowsRead(own.database, ask, table);

test("the first page of jobs reads that page, three times at most: to find, weigh and show the jobs", async () => {
  const { rows } = await listJobs(own, "default", {}, page, undefined);
  expect(rows).toHaveLength(page);
  expect(await read((deps) => listJobs(deps, "default", {}, page, undefined))).toBeLessThanOrEqual(3 * page);
  // Five of six finished: a filter that most jobs pass reads little more.
  const succeeded = { status: "succeeded" } as const;
  expect(await read((deps) => listJobs(deps, "default", succeeded, page, undefined))).toBeLessThanOrEqual(10 * page);
});

test("a page of dead letters reads that page, and their groups read each twice: to see which are large, and to count", async () => {
  const ask = (deps: Parameters<typeof listDead>[0]) => listDead(deps, "default", {}, page, undefined);
  expect((await ask(own)).rows).toHaveLength(page);
  expect(await read(ask)).toBeLessThanOrEqual(3 * page + 1);
  const { groups } = await listDeadGroups(own, "default", {}, page);
  expect(groups.length).toBeGreaterThan(2);
  const rows = await read((deps) => listDeadGroups(deps, "default", {}, page));
  // And of each group where it begins, its oldest and its newest.
  expect(rows).toBeLessThanOrEqual(2 * dead + 4 * groups.length);
});

test("the overview reads a row of counts for each queue, and of each backlog the front", async () => {
  const { waiting, queues: held } = await summaryOf(own, "default");
  expect(held).toBeGreaterThan(3_000);
  const ask = (deps: Parameters<typeof summaryOf>[0]) => summaryOf(deps, "default");
  expect(await read(ask, "jobs")).toBeLessThanOrEqual(4 * waiting.length);
  expect(await read(ask, "queue_counts")).toBeLessThanOrEqual(held + 10);
});

test("a page of queues reads the counts, the decisions and the fronts of that page alone", async () => {
  for (const after of ["", "past-2"]) {
    const choice = { after, limit: page };
    expect(await queueStats(own, "default", choice)).toHaveLength(page);
    const ask = (deps: Parameters<typeof queueStats>[0]) => queueStats(deps, "default", choice);
    expect(await read(ask, "jobs")).toBeLessThanOrEqual(2 * page);
    expect(await read(ask, "queue_counts")).toBeLessThanOrEqual(page + 10);
    expect(await read(ask)).toBeLessThanOrEqual(5 * page);
  }
});

test("the small charts of a page of queues read the last hour's minutes of those queues", async () => {
  await own.database.sql`
    INSERT INTO atlasqueue.rollups (tenant, queue, type, resolution, at, submitted, succeeded, failed, dead, retried, waits, runs)
    SELECT 'default', 'past-' || n, '', 'minute', date_trunc('minute', now(), 'UTC') - ago * interval '1 minute', 1, 1, 0, 0, 0, '{}', '{}'
    FROM generate_series(1, 100) AS n, generate_series(0, 200) AS ago`;
  await own.database.sql`ANALYZE atlasqueue.rollups`;
  const names = Array.from({ length: 30 }, (_, at) => `past-${at + 1}`);
  expect((await readThroughput(own, "default", names)).items).toHaveLength(30);
  expect(await read((deps) => readThroughput(deps, "default", names))).toBeLessThanOrEqual(30 * 61);
});

test("a look for listeners reads the counts of their tenant, and of finished jobs those it names", async () => {
  const { rows } = await listJobs(own, "default", { status: "succeeded" }, page, undefined);
  const ids = rows.map(({ id }) => id);
  const asked = { tenants: ["default"], named: [], browsed: ["default"], first_queues: 100, ids };
  const { finished, queues: shown } = await liveLook(own, asked);
  expect([finished.get("default")?.length, shown.get("default")?.size]).toEqual([page, 100]);
  expect(await read((deps) => liveLook(deps, asked), "jobs")).toBeLessThanOrEqual(page);
  const { queues: held } = await summaryOf(own, "default");
  expect(await read((deps) => liveLook(deps, asked), "queue_counts")).toBeLessThanOrEqual(held + 110);
});

test("a page of schedules, of replays and of the audit trail reads that page", async () => {
  expect(await read((deps) => listSchedules(deps, "default", page))).toBeLessThanOrEqual(3 * (page + 1));
  expect(await read((deps) => listOperations(deps, "default", page, undefined))).toBeLessThanOrEqual(3 * (page + 1));
  for (const [filter, most] of [
    [{}, page],
    [{ action: "queue.pause" }, 2 * page],
  ] as const) {
    expect((await listActs(own, "default", filter, page, undefined)).rows).toHaveLength(page);
    expect(await read((deps) => listActs(deps, "default", filter, page, undefined))).toBeLessThanOrEqual(most);
  }
  // Times bound what is looked at.
  const day_ms = 86_400_000;
  for (const filter of [
    { before: new Date(Date.now() - day_ms).toISOString() },
    { after: new Date(Date.now() + day_ms).toISOString() },
  ]) {
    expect(await listActs(own, "default", filter, page, undefined)).toEqual({ rows: [], next: undefined });
    expect(await read((deps) => listActs(deps, "default", filter, page, undefined))).toBe(0);
  }
});

test("a search reads the jobs it says it read, and shows those it found", async () => {
  const found = await searchJobs(own, "default", {}, "a", page, undefined);
  expect(found.rows).toHaveLength(page);
  // Each is looked at for the filter, read for the text, and, when it has it, shown.
  const rows = await read((deps) => searchJobs(deps, "default", {}, "a", page, undefined));
  expect(rows).toBeLessThanOrEqual(2 * found.jobs + page);
});

test("a job's attempts and the groups that are held are read, and nothing beside them", async () => {
  const [one] = (await listDead(own, "default", {}, 1, undefined)).rows;
  const attempts = await listAttempts(own, "default", one?.id ?? "");
  const rows = await read((deps) => listAttempts(deps, "default", one?.id ?? ""));
  // The job is asked for three times: that it is there, for its history, and for its last attempt.
  expect(rows).toBeLessThanOrEqual(2 * (attempts?.length ?? 0) + 3);
  const payments = { tenant: "default", queue: "payments" };
  const groups = await heldGroups(own, payments, "", page);
  const waiting = groups.reduce((sum, { blocked }) => sum + blocked, 0);
  expect(groups.length).toBeGreaterThan(0);
  expect(await read((deps) => heldGroups(deps, payments, "", page))).toBeLessThanOrEqual(groups.length + waiting);
});
