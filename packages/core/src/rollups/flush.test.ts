import { eventually, forFile, recordEvents, submission, testCore } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { rowsRead } from "../../test/rows-read.ts";
import type { Deps } from "../deps.ts";
import { createFollowUps } from "../follow-ups.ts";
import { claim } from "../lease/claim.ts";
import { fireAll } from "../schedules/fire-due.ts";
import { putSchedule } from "../schedules/store.ts";
import { settleRemote } from "../remote/settle.ts";
import { recoverAll } from "../maintenance/sweep/recovery.ts";
import { createLogger } from "../observe/log.ts";
import { createSubmitter } from "../submit/submitter.ts";
import { submitInside } from "../submit/pending/submit-inside.ts";
import { foldMinutes } from "./fold.ts";
import { readSeries } from "./series.ts";
import { createRollups } from "./flush.ts";
import { writeRollups } from "./write.ts";
import { createTally } from "./tally.ts";

const deps = forFile(testCore);
const options = { idempotency_ttl_seconds: 60 };
const backoff = { baseSeconds: 5, maxSeconds: 60, jitterMaxSeconds: 0 };
const job = { tenant: "default", queue: "default", type: "test" };

beforeEach(
  () =>
    deps.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.job_attempts, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.outbox, atlasqueue.schedules, atlasqueue.rollups`,
);

const total = async (filter: { queue?: string; type?: string; tenant?: string } = {}) =>
  (await readSeries(deps, filter.tenant ?? "default", { window: "15m", ...filter })).total;
const claimed = async (ids: readonly string[]) =>
  claim(deps, ids, { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 });
const submitted = async (count: number, request: Parameters<typeof submission>[0] = {}) => {
  const followUps = createFollowUps(deps);
  const submitter = createSubmitter({ ...deps, followUps }, options);
  const outcomes = await Promise.all(Array.from({ length: count }, () => submitter.submit(submission(request), 10)));
  await followUps.stop();
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};

test("submissions, successes, failures, deaths and times of remote workers are in the series once the process stops", async () => {
  const [first = "", second = "", third = ""] = await submitted(3);
  const followUps = createFollowUps(deps);
  const leases = await claimed([first, second, third]);
  const of = (id: string) => ({ id, lease_token: leases.find((lease) => lease.id === id)?.lease_token ?? "" });
  const settle = () =>
    settleRemote(
      { ...deps, followUps, backoff },
      "default",
      [of(first)],
      [
        { ...of(second), error: "E: no", retry: true },
        { ...of(third), error: "E: no", retry: false },
      ],
    );
  await settle();
  // A repetition, as when the first answer was lost, gives the same outcome and is no second one.
  expect(await settle()).toMatchObject({ acks: ["succeeded"], nacks: ["failed", "dead"], next: { jobs: [] } });
  await followUps.stop();
  expect(await total()).toMatchObject({ submitted: 3, succeeded: 1, failed: 2, retried: 1, dead: 1 });
  expect(await total()).toMatchObject({ wait: { count: 3 }, run: { count: 3 } });
  expect(await total({ queue: "default" })).toEqual(await total());
  expect(await total({ queue: "default", type: submission().request.type })).toEqual(await total());
  expect((await total({ queue: "other" })).submitted).toBe(0);
  expect((await total({ tenant: "acme" })).submitted).toBe(0);
});

test("lost leases count as failures, as retries and as deaths", async () => {
  const ids = [...(await submitted(1)), ...(await submitted(1, { max_attempts: 1 }))];
  await claimed(ids);
  await deps.database.sql`UPDATE atlasqueue.jobs SET locked_until = now() - interval '1 second'`;
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 second'`;
  const followUps = createFollowUps(deps);
  const logger = createLogger("silent", "test");
  expect(await recoverAll({ ...deps, logger, followUps })).toBe(2);
  await followUps.stop();
  expect(await total()).toMatchObject({ submitted: 2, failed: 2, retried: 1, dead: 1 });
});

test("jobs of schedules are counted when they are made", async () => {
  await putSchedule(deps, "default", {
    name: "nightly",
    cron: "* * * * *",
    timezone: "UTC",
    catch_up: "one",
    job: { type: "nightly", queue: "default", payload: {}, priority: 0, max_attempts: 5 },
  });
  await deps.database
    .sql`UPDATE atlasqueue.schedules SET next_at = date_trunc('minute', now(), 'UTC') - interval '1 minute'`;
  const followUps = createFollowUps(deps);
  await fireAll({ ...deps, followUps });
  await followUps.stop();
  expect(await total({ type: "nightly" })).toMatchObject({ submitted: 1 });
});

test("jobs of callers' transactions are counted when they are taken in, and never before the commit", async () => {
  const followUps = createFollowUps(deps);
  await deps.database.sql.begin(async (tx) => {
    const execute = async ({ text, params }: { text: string; params: readonly (string | number)[] }) =>
      (await tx.unsafe(text, [...params])) as never;
    await submitInside(execute, submission({ type: "plain" }), options);
    await submitInside(execute, submission({ type: "grouped", group: "g" }), options);
    await followUps.drain();
    expect(await deps.database.sql`SELECT FROM atlasqueue.rollups`).toEqual([]);
  });
  await followUps.drain();
  await followUps.stop();
  expect(await total({ type: "plain" })).toMatchObject({ submitted: 1 });
  expect(await total({ type: "grouped" })).toMatchObject({ submitted: 1 });
  expect(await total()).toMatchObject({ submitted: 2 });
});

test("many jobs are one statement, written by itself a few seconds later", { tags: ["slow"] }, async () => {
  const [before] = await deps.database.sql`SELECT count(*)::int AS count FROM atlasqueue.rollups`;
  const rollups = createRollups(deps);
  for (let at = 0; at < 10_000; at += 1) rollups.ended({ ...job, queue: `q${at % 3}` }, "succeeded", at, at);
  expect(before?.count).toBe(0);
  await eventually(async () => expect(await total()).toMatchObject({ succeeded: 10_000 }), { timeout_ms: 60_000 });
  await rollups.stop();
  // Three queues, each with its sum over types, one type, and all.
  const [row] = await deps.database.sql`SELECT count(*)::int AS count FROM atlasqueue.rollups`;
  expect(row?.count).toBe(8);
});

test("two processes add up in the same minutes, bucket by bucket", async () => {
  const tally = createTally();
  const write = async (waited_ms: number) => {
    for (let at = 0; at < 10; at += 1) tally.ended(job, "succeeded", waited_ms, 7);
    await writeRollups(deps, tally.take(), 0);
  };
  await write(1_000);
  await write(4);
  const { wait, run } = await total();
  expect(wait).toMatchObject({ count: 20 });
  expect((wait.p50_ms ?? 0) / 4).toBeCloseTo(1, 0);
  expect((wait.p95_ms ?? 0) / 1_000).toBeCloseTo(1, 0);
  expect(run).toMatchObject({ count: 20 });
});

test("figures that could not be written are lost; nothing is thrown at those who settle", async () => {
  const recorded = recordEvents();
  let away = true;
  const database = new Proxy(deps.database, {
    get: (target, name) => {
      if (away && name === "sql") throw Object.assign(new Error("no connection"), { severity: "ERROR", code: "53300" });
      return Reflect.get(target, name) as unknown;
    },
  });
  const rollups = createRollups({ database, observe: recorded.observe });
  rollups.submitted(job);
  await rollups.stop();
  expect(recorded.named("stats_write_failed")).toHaveLength(1);
  away = false;
  rollups.submitted(job);
  await rollups.stop();
  expect(await total()).toMatchObject({ submitted: 1 });
});

test("a tenant with thousands of queues is written in statements of a bounded size", async () => {
  const sizes: number[] = [];
  const unsafe = ((...[text, params]: Parameters<typeof deps.database.sql.unsafe>) => {
    sizes.push(JSON.stringify(params?.[0]).split(",").length);
    return deps.database.sql.unsafe(text, params);
  }) as typeof deps.database.sql.unsafe;
  const rollups = createRollups({
    database: { ...deps.database, sql: { unsafe } as Deps["database"]["sql"] },
    observe: recordEvents().observe,
  });
  for (let at = 0; at < 7_000; at += 1) rollups.submitted({ ...job, tenant: "wide", queue: `q${at}` });
  await rollups.stop();
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4_000);
  expect(await total({ tenant: "wide" })).toMatchObject({ submitted: 7_000 });
});

test("minutes older than two days become hours, hours older than thirty days go, and the sums stay the same", async () => {
  const tally = createTally();
  const hours = [1, 47, 49, 60, 300, 700, 721, 800];
  for (const [at, age] of hours.entries()) {
    tally.ended(job, "succeeded", 10, 2 ** at);
    tally.submitted({ ...job, queue: "other" });
    await writeRollups(deps, tally.take(), age * 3_600_000);
  }
  const sums = async () => (await readSeries(deps, "default", { window: "30d" })).total;
  const before = await sums();
  expect(before.succeeded).toBeGreaterThanOrEqual(5);
  while ((await foldMinutes(deps, 7)) > 0);
  expect(await sums()).toEqual(before);
  const [row] = await deps.database.sql`
    SELECT (SELECT min(at) > now() - interval '50 hours' FROM atlasqueue.rollups WHERE resolution = 'minute') AS recent,
           (SELECT count(*)::int FROM atlasqueue.rollups WHERE resolution = 'hour' AND queue = '' AND type = '') AS hours`;
  expect(row).toEqual({ recent: true, hours: 4 });
  const [left] = await deps.database
    .sql`SELECT min(at) >= now() - interval '721 hours' AS recent FROM atlasqueue.rollups`;
  expect(left).toEqual({ recent: true });
});

test.each([
  ["15m", 15, 60],
  ["1h", 60, 60],
  ["24h", 96, 900],
  ["30d", 180, 14_400],
] as const)(
  "the window %s has %i steps of %i seconds, without gaps, up to now",
  async (window, count, step_seconds) => {
    const { items, from, to, ...series } = await readSeries(deps, "default", { window });
    expect(series).toMatchObject({ window, step_seconds, total: { submitted: 0, wait: { count: 0, p50_ms: null } } });
    const times = items.map(({ at }) => Date.parse(at));
    expect(times).toEqual(Array.from({ length: count }, (_, at) => Date.parse(from) + at * step_seconds * 1_000));
    const under_way_ms = Date.parse(to) - (times.at(-1) ?? 0);
    expect(under_way_ms).toBeGreaterThanOrEqual(0);
    expect(under_way_ms).toBeLessThan(step_seconds * 1_000);
  },
);

test("a series reads the rows of its window and no others, whatever the number of queues", async () => {
  await deps.database.sql`
    INSERT INTO atlasqueue.rollups (tenant, queue, type, resolution, at, submitted, succeeded, failed, dead, retried, waits, runs)
    SELECT 'default', queue, '', 'minute', date_trunc('minute', now(), 'UTC') - minute * interval '1 minute', 1, 1, 0, 0, 0, '{1}', '{1}'
    FROM generate_series(-2, 99) AS minute, (SELECT '' AS queue UNION ALL SELECT 'q' || n FROM generate_series(1, 300) AS n) AS queues`;
  await deps.database.sql`ANALYZE atlasqueue.rollups`;
  // Two minutes are still to come, so that a new one may begin meanwhile.
  expect(await total()).toMatchObject({ submitted: 15 });
  for (const queue of ["", "q17"])
    for (const [window, rows] of [
      ["15m", 15],
      ["1h", 60],
    ] as const) {
      const read = await rowsRead(deps.database, (counted) => readSeries(counted, "default", { window, queue }));
      expect(read).toBeLessThanOrEqual(rows + 3);
    }
});
