// @module-tag slow
import { bulkAnswer, jobPage, type BulkAnswer } from "@atlasqueue/contract";
import { createLogger, redisSignal, type Signal } from "@atlasqueue/core";
import { eventually, redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { DoNotRetryError, defineHandler, startWorker, type Worker } from "@atlasqueue/worker";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { pagesOf } from "../../test/pages-of.ts";
import { testApp } from "../../test/test-app.ts";

const { jobsKey, dlqKey } = uniqueKeys();
let api: Awaited<ReturnType<typeof testApp>>;
let signal: Signal;
let redis: Redis;
const workers: Worker[] = [];
beforeAll(async () => {
  redis = new Redis(redisUrl());
  signal = redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 });
  api = await testApp({ signal });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 1_000 })));
  await api.stop();
  await signal.close();
  redis.disconnect();
});

/** While true, what a worker is given dies. */
const broken = { mail: true, report: true };
const handlers = (["mail", "report"] as const).map((type) =>
  defineHandler(type, z.object({}), () => {
    if (broken[type]) throw new DoNotRetryError("broken");
  }),
);
const work = () => {
  const deps = { ...api.deps, logger: createLogger("silent", "test") };
  workers.push(startWorker(deps, { handlers, concurrency: 20 }));
};

let made = 0;
const submit = async (type: string, count: number) => {
  const jobs = Array.from({ length: count }, () => ({ type, idempotency_key: `w-${(made += 1)}` }));
  const response = await api.send("POST", "/v1/jobs/batch", undefined, { jobs });
  expect(response.status).toBe(201);
};
const replay = async (body: object): Promise<BulkAnswer> =>
  bulkAnswer.parse(await (await api.send("POST", "/v1/dlq/replay", undefined, body)).json());
const countsOfApi = async () => {
  const { items } = (await (await api.get("/v1/queues")).json()) as { items: { counts: Record<string, number> }[] };
  return items[0]?.counts;
};
const countsOfTable = async () => {
  const rows = await api.deps.database.sql`SELECT status, count(*)::int AS count FROM atlasqueue.jobs GROUP BY status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status as string, count as number]));
};
const idsOfApi = async () => {
  const pages = await pagesOf(async (more) => jobPage.parse(await (await api.get(`/v1/dlq?limit=200${more}`)).json()));
  return pages.flat().map(({ id }) => id);
};
const deadInTable = async () =>
  (await api.deps.database.sql`SELECT id FROM atlasqueue.jobs WHERE status = 'dead' ORDER BY id`).map(
    ({ id }) => id as string,
  );
const listIsExact = async () => {
  const dead = await deadInTable();
  expect((await redis.lrange(dlqKey, 0, -1)).sort()).toEqual(dead);
  expect((await redis.smembers(`${dlqKey}:members`)).sort()).toEqual(dead);
  expect((await idsOfApi()).sort()).toEqual(dead);
};

test(
  "of 1,000 dead jobs 600 are replayed by filter while workers run and others die: exact in Postgres, Redis and API",
  { tags: ["slow"], timeout: 90_000 },
  async () => {
    work();
    work();
    await submit("mail", 600);
    await submit("report", 400);
    const slow = { timeout_ms: 30_000 };
    await eventually(async () => expect(await countsOfTable()).toEqual({ dead: 1_000 }), slow);
    await eventually(listIsExact, slow);

    broken.mail = false;
    expect(await replay({ type: "mail", dry_run: true })).toMatchObject({ matched: 600, changed: 0 });
    // Simultaneous deaths, of jobs the filter does not match.
    const dying = (async () => {
      for (let round = 0; round < 10; round += 1) await submit("report", 20);
    })();
    expect(await replay({ type: "mail" })).toEqual({ matched: 600, changed: 600 });
    await dying;
    await eventually(async () => expect(await countsOfTable()).toEqual({ succeeded: 600, dead: 600 }), slow);
    expect(await countsOfApi()).toMatchObject({ succeeded: 600, dead: 600, queued: 0, running: 0, failed: 0 });
    await eventually(listIsExact, slow);
    const spent = await api.deps.database
      .sql`SELECT DISTINCT attempts, last_error FROM atlasqueue.jobs WHERE status = 'succeeded'`;
    expect(spent).toEqual([{ attempts: 1, last_error: null }]);
  },
);

test("a job that dies again as soon as it is replayed is replayed once, and is in the list once", async () => {
  const slow = { timeout_ms: 30_000 };
  expect(await replay({ type: "report" })).toEqual({ matched: 600, changed: 600 });
  await eventually(async () => expect(await countsOfTable()).toEqual({ succeeded: 600, dead: 600 }), slow);
  await eventually(listIsExact, { timeout_ms: 40_000 });
  const replays = api.events.filter(({ event }) => event === "jobs_replayed");
  expect(replays.reduce((sum, one) => sum + ("count" in one ? one.count : 0), 0)).toBe(1_200);
});

test("two simultaneous purges remove each job once, and leave the list empty", async () => {
  const purge = async () =>
    bulkAnswer.parse(await (await api.send("POST", "/v1/dlq/purge", undefined, { queue: "default" })).json());
  const [one, other] = await Promise.all([purge(), purge()]);
  const rest = await purge();
  expect((one?.changed ?? 0) + (other?.changed ?? 0) + rest.changed).toBe(600);
  expect(await countsOfTable()).toEqual({ succeeded: 600 });
  await eventually(listIsExact, { timeout_ms: 40_000 });
});
