import type { QueueLimitsInput, SubmitJobInput } from "@atlasqueue/contract";
import { queueLimits } from "@atlasqueue/contract";
import {
  eventually,
  recordEvents,
  redisUrl,
  submission,
  testDatabase,
  uniqueKeys,
  type TestDatabase,
} from "@atlasqueue/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Deps } from "../deps.ts";
import { queueRoom, roomIn } from "./room.ts";
import { queueStats } from "../queues/stats.ts";
import { refillQueue } from "./refill.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { redisSignal } from "../signal/redis/signal.ts";
import { advanceGroups } from "../groups/advance.ts";
import { claim, claimReady } from "../lease/claim.ts";
import type { Claimer } from "../lease/lease.ts";
import { complete } from "../settle/complete.ts";
import { enqueue } from "../submit/enqueue.ts";
import { foldCounts } from "../counts/fold.ts";
import { forgetPastStarts } from "./note-starts.ts";
import { pauseQueue } from "../queues/pause.ts";
import { noteBlockedGroups, setLimits } from "./set.ts";

let own: TestDatabase;
let deps: Deps;
const ref = { tenant: "default", queue: "default" };
const claimer: Claimer = { tenant: "default", queues: ["default", "free"], worker_id: "w1", lease_seconds: 30 };

beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recordEvents().observe };
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database.sql`
    TRUNCATE jobs, lease_batches, job_attempts, idempotency_keys, job_groups, group_handovers, queues, queue_starts, queue_counts, queue_changes`;
});

const add = async (count: number, request: Partial<SubmitJobInput> = {}): Promise<string[]> => {
  const outcomes = await enqueue(
    deps,
    Array.from({ length: count }, () => submission(request)),
    { idempotency_ttl_seconds: 60 },
  );
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};
const limit = (limits: QueueLimitsInput) => setLimits(deps, ref, queueLimits.parse(limits));
const finish = (leases: Awaited<ReturnType<typeof claim>>) =>
  complete(
    deps,
    leases.map((lease) => ({ lease, result: null })),
  );

test("a queue's concurrency holds: the first of those offered go, and another goes when one finishes", async () => {
  await limit({ concurrency: 3 });
  const ids = await add(5);
  const leases = await claim(deps, ids, claimer);
  expect(leases.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(await claim(deps, ids, claimer)).toEqual([]);
  expect(await claimReady(deps, 5, claimer)).toEqual([]);
  await finish(leases.slice(0, 1));
  expect((await claimReady(deps, 5, claimer)).map(({ id }) => id)).toEqual([ids[3]]);
});

test("no more jobs are claimed from several limited queues together than there is room for", async () => {
  await limit({ concurrency: 5 });
  await setLimits(deps, { ...ref, queue: "free" }, queueLimits.parse({ concurrency: 5 }));
  await add(4);
  await add(4, { queue: "free" });
  expect((await claimReady(deps, 3, claimer)).length).toBe(3);
});

test("queues without limits are not held up by those with limits", async () => {
  await limit({ concurrency: 1 });
  const held = await add(2);
  const free = await add(3, { queue: "free" });
  expect((await claim(deps, [...held, ...free], claimer)).length).toBe(4);
  expect((await claimReady(deps, 10, claimer)).length).toBe(0);
});

test("twenty concurrent claimers never run more than the limit", async () => {
  await limit({ concurrency: 7 });
  const ids = await add(60);
  let running = 0;
  let most = 0;
  const work = async () => {
    while ((await open()) > 0) {
      const leases = await claim(deps, ids, { ...claimer, worker_id: "w" });
      running += leases.length;
      most = Math.max(most, running);
      running -= leases.length;
      await finish(leases);
      await foldCounts(deps, 10);
    }
  };
  const open = async () =>
    Number((await own.database.sql`SELECT count(*)::int AS n FROM jobs WHERE status <> 'succeeded'`)[0]?.["n"]);
  const watch = async () => {
    while ((await open()) > 0) {
      const [row] = await own.database.sql<
        { n: number }[]
      >`SELECT count(*)::int AS n FROM jobs WHERE status = 'running'`;
      most = Math.max(most, row?.n ?? 0);
    }
  };
  await Promise.all([...Array.from({ length: 20 }, work), watch()]);
  expect(most).toBeLessThanOrEqual(7);
});

test("a lease has its full time, however long the claim waited for the queue", async () => {
  await limit({ concurrency: 1 });
  const ids = await add(1);
  let claiming: ReturnType<typeof claim> | undefined;
  const [row] = await own.database.sql.begin(async (tx) => {
    await tx`SELECT FROM queues FOR UPDATE`;
    claiming = claim(deps, ids, claimer);
    await eventually(async () => {
      const waiting = await own.database.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(waiting.length).toBe(1);
    });
    return tx<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
  });
  const [lease] = (await claiming) ?? [];
  const [job] = await own.database.sql<{ locked_until: Date }[]>`
    SELECT locked_until FROM jobs WHERE id = ${lease?.id ?? ""}`;
  expect(job?.locked_until.getTime()).toBeGreaterThanOrEqual((row?.at.getTime() ?? Infinity) + 30_000);
});

test("a rate holds in any window, and says when there is room again", async () => {
  await limit({ rate: { limit: 2, period_seconds: 60 } });
  const ids = await add(5);
  let told: [string, number] | undefined;
  const throttled: Claimer["throttled"] = ({ queue }, in_ms) => (told = [queue, in_ms]);
  const leases = await claim(deps, ids, { ...claimer, throttled });
  await finish(leases);
  expect(leases.length).toBe(2);
  expect(await claim(deps, ids.slice(2), { ...claimer, throttled })).toEqual([]);
  expect(told?.[0]).toBe("default");
  expect(told?.[1]).toBeGreaterThan(50_000);
  // Starts count until the end of their hundredth of the period.
  expect(told?.[1]).toBeLessThanOrEqual(60_600);
  // The window moves on.
  await own.database.sql`UPDATE queue_starts SET started_at = started_at - interval '61 s'`;
  expect((await claim(deps, ids.slice(2), claimer)).length).toBe(2);
  const [row] = await own.database.sql`SELECT count(*)::int AS n FROM queue_starts`;
  expect(row?.["n"]).toBe(1);
});

test("a rate holds in every window however jobs come, and nearly all of it is used", async () => {
  const [limit_each, period_ms] = [20, 400];
  await limit({ rate: { limit: limit_each, period_seconds: period_ms / 1_000 } });
  const ids = await add(150);
  let started = 0;
  while (started < ids.length)
    started += (await claim(deps, ids.slice(started, started + 1 + (started % 3)), claimer)).length;
  const rows = await own.database.sql<{ at: number }[]>`
    SELECT (extract(epoch FROM started_at) * 1000)::float8 AS at FROM jobs ORDER BY started_at`;
  const at = rows.map((row) => row.at);
  for (let first = 0; first + limit_each < at.length; first += 1)
    expect((at[first + limit_each] ?? 0) - (at[first] ?? 0)).toBeGreaterThanOrEqual(period_ms);
});

test("starts in a period keep a bounded number of rows, for the queue and for each group", async () => {
  const rate = { limit: 100_000, period_seconds: 600 };
  await limit({ rate, group_rate: rate, group_concurrency: 1_000 });
  const ids = await add(300, { group: "g" });
  for (const id of ids) expect((await claim(deps, [id], claimer)).length).toBe(1);
  const kept = await own.database.sql<{ group_key: string | null; rows: number; starts: number }[]>`
    SELECT group_key, count(*)::int AS rows, sum(count)::int AS starts FROM queue_starts GROUP BY group_key`;
  expect(kept.map(({ starts }) => starts)).toEqual([300, 300]);
  for (const { rows } of kept) expect(rows).toBeLessThanOrEqual(20);
});

test("starts of idle groups are forgotten, and of rates that were removed", async () => {
  await limit({ group_rate: { limit: 5, period_seconds: 60 }, group_concurrency: 5 });
  await claim(deps, await add(1, { group: "old" }), claimer);
  await own.database.sql`UPDATE queue_starts SET started_at = started_at - interval '61 s'`;
  await claim(deps, await add(1, { group: "new" }), claimer);
  expect(await forgetPastStarts(deps, 10)).toBe(1);
  expect(await own.database.sql`SELECT group_key FROM queue_starts`).toEqual([{ group_key: "new" }]);
  await limit({});
  await own.database.sql`UPDATE queue_starts SET started_at = now()`;
  expect(await forgetPastStarts(deps, 10)).toBe(1);
});

test("a claim reads only the starts of the rates it checks", async () => {
  await limit({ rate: { limit: 100, period_seconds: 60 } });
  await own.database.sql`
    INSERT INTO queue_starts SELECT 'default', 'other', NULL, now(), 1 FROM generate_series(1, 20_000)`;
  await own.database.sql`ANALYZE queue_starts`;
  const plan = await own.database.sql<{ "QUERY PLAN": string }[]>`
    EXPLAIN ${own.database.sql.unsafe(`SELECT ${roomIn("queues")} FROM queues WHERE tenant = 'default' AND queue = 'default'`)}`;
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan on queue_starts");
});

test("a group rate applies to each group separately, and holds back no job without a group", async () => {
  await limit({ group_rate: { limit: 1, period_seconds: 60 }, group_concurrency: 5 });
  const a = await add(3, { group: "a" });
  const b = await add(2, { group: "b" });
  const plain = await add(2);
  const leases = await claim(deps, [...a, ...b, ...plain], claimer);
  expect(leases.map(({ id }) => id)).toEqual([a[0], b[0], ...plain]);
  expect(await claim(deps, [...a, ...b], claimer)).toEqual([]);
});

test("groups that have used up their rate hold up no others, with Redis or without, however many there are", async () => {
  await limit({ group_rate: { limit: 1, period_seconds: 60 }, group_concurrency: 2 });
  const of = (at: number) => submission({ group: `g${at % 600}` });
  const submissions = Array.from({ length: 1_200 }, (_, at) => of(at));
  const stored = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
  const ids = stored.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  expect((await claim(deps, ids, claimer)).length).toBe(600);
  const [other = "", another = ""] = [...(await add(1)), ...(await add(1, { group: "other" }))];
  const signal = memorySignal();
  await refillQueue({ ...deps, signal }, ref);
  expect(await signal.take([ref], 1_000)).toEqual([other, another]);
  expect((await claimReady(deps, 1, claimer)).map(({ id }) => id)).toEqual([other]);
  expect((await claimReady(deps, 5, claimer)).map(({ id }) => id)).toEqual([another]);
});

test("several of a group run at once when the queue allows it, and fewer again when it does not", async () => {
  const ids = await add(5, { group: "g" });
  expect(await limit({ group_concurrency: 3 })).toEqual({ groups_widened: true });
  expect(await noteBlockedGroups(deps, ref, "", 10)).toBeUndefined();
  expect((await advanceGroups(deps, 100)).ready.map(({ id }) => id)).toEqual(ids.slice(1, 3));
  const leases = await claim(deps, ids, claimer);
  expect(leases.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  await limit({});
  await finish(leases.slice(0, 2));
  expect((await advanceGroups(deps, 100)).ready).toEqual([]);
  await finish(leases.slice(2));
  expect((await advanceGroups(deps, 100)).ready.map(({ id }) => id)).toEqual([ids[3]]);
});

test("a lowered limit holds for the next claims; a removed one is gone", async () => {
  await limit({ concurrency: 5 });
  const ids = await add(8);
  const leases = await claim(deps, ids.slice(0, 5), claimer);
  await limit({ concurrency: 2 });
  await finish(leases.slice(0, 3));
  expect(await claim(deps, ids, claimer)).toEqual([]);
  await limit({});
  expect((await claim(deps, ids, claimer)).length).toBe(3);
});

test("the queue's next jobs are signalled as far as there is room, none while it is paused", async () => {
  const signal = memorySignal();
  await limit({ concurrency: 2 });
  const ids = await add(5);
  await refillQueue({ ...deps, signal }, ref);
  expect(await signal.take([ref], 10)).toEqual(ids.slice(0, 2));
  await claim(deps, ids.slice(0, 1), claimer);
  await refillQueue({ ...deps, signal }, ref);
  expect(await signal.take([ref], 10)).toEqual(ids.slice(1, 2));
  await pauseQueue(deps, ref);
  expect(await queueRoom(deps, ref)).toBeUndefined();
});

test("jobs already signalled are not signalled again, as no worker may be there to take them", async () => {
  const { jobsKey, dlqKey } = uniqueKeys();
  const redis = redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, dead_letters: dlqKey }, timeout_ms: 5_000 });
  for (const signal of [memorySignal(), redis]) {
    await own.database.sql`TRUNCATE jobs, queue_counts, queue_changes`;
    const offer = () => refillQueue({ ...deps, signal }, ref);
    const length = async () => (await signal.look(ref)).length;
    await limit({ concurrency: 100 });
    const ids = await add(5);
    const [urgent = ""] = await add(1, { priority: 1 });
    await offer();
    const before = await length();
    for (let sweep = 0; sweep < 3; sweep += 1) await offer();
    expect(await length()).toBe(before);
    // Dropped for lack of room, and offered again ahead of the others.
    expect(await signal.take([ref], 3)).toEqual([urgent, ids[0], ids[1]]);
    await offer();
    const again = await length();
    for (let sweep = 0; sweep < 3; sweep += 1) await offer();
    expect(await length()).toBe(again);
    expect(await signal.take([ref], 6)).toEqual([urgent, ...ids]);
    await signal.close();
  }
});

test("limits are shown with the queue", async () => {
  const limits = {
    concurrency: 7,
    group_concurrency: 2,
    rate: { limit: 10, period_seconds: 0.5 },
    group_rate: { limit: 1, period_seconds: 60 },
  };
  await limit(limits);
  expect((await queueStats(deps, "default"))[0]?.limits).toEqual(limits);
  await eventually(async () => expect((await queueStats(deps, "default")).length).toBe(1));
});
