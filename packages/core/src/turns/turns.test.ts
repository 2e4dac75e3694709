import { queueLimits, type QueueLimitsInput, type SubmitJobInput } from "@atlasqueue/contract";
import {
  recordEvents,
  redisUrl,
  steppingDatabase,
  submission,
  testDatabase,
  uniqueKeys,
  type TestDatabase,
} from "@atlasqueue/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Deps } from "../deps.ts";
import { createFollowUps, type FollowUps } from "../follow-ups.ts";
import { cancel } from "../jobs/cancel.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { setLimits } from "../limits/set.ts";
import { rebuildSignals } from "../maintenance/rebuild-signals.ts";
import { resignalOrphans } from "../maintenance/resignal.ts";
import { readyAmong } from "../queues/ready-queues.ts";
import { complete } from "../settle/complete.ts";
import { announce } from "../signal/announce.ts";
import { redisSignal } from "../signal/redis/signal.ts";
import type { Signal } from "../signal/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { submit } from "../submit/submit.ts";
import { createOfferInTurns } from "./offer.ts";

const main = { tenant: "default", queue: "default" };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
let own: TestDatabase;
let deps: Deps & { signal: Signal };
let followUps: FollowUps;
/** The group of each job. */
let groups: Map<string, string>;

beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database.sql`
    TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.idempotency_keys, atlasqueue.queues, atlasqueue.queue_counts, atlasqueue.queue_changes, atlasqueue.job_groups`;
  const { jobsKey, dlqKey } = uniqueKeys();
  const signal = redisSignal({ url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey }, timeoutMs: 5_000 });
  deps = { database: own.database, observe: recordEvents().observe, signal };
  followUps = createFollowUps(deps);
  groups = new Map();
});
afterEach(async () => {
  await followUps.stop();
  await deps.signal.close();
});

const limit = async (limits: QueueLimitsInput): Promise<void> => {
  followUps.limitsChanged(main, await setLimits(deps, main, queueLimits.parse(limits)));
  await followUps.idle();
};
const add = async (group: string | undefined, count: number, request: Partial<SubmitJobInput> = {}) => {
  const jobs = Array.from({ length: count }, () => submission({ ...request, ...(group !== undefined && { group }) }));
  for (const outcome of await submit(deps, jobs, { idempotency_ttl_seconds: 60 }))
    if ("job" in outcome) groups.set(outcome.job.id, group ?? "none");
};
const groupsOf = (ids: readonly string[]) => ids.map((id) => groups.get(id));
const take = async (count: number) => groupsOf(await deps.signal.take([main], count));
const of = (group: string, count: number) => Array.from({ length: count }, () => group);
/** As if all had been ready for that long. */
const age = () => own.database.sql`
  UPDATE atlasqueue.jobs SET ready_at = ready_at - interval '5 seconds', updated_at = updated_at - interval '5 seconds'
  WHERE ready_at IS NOT NULL`;
const fair: QueueLimitsInput = { fair_by: "group", group_concurrency: 1_000 };

test("groups take turns as jobs are submitted, whoever came first", async () => {
  await limit(fair);
  await add("big", 50);
  await add("small", 5);
  await add(undefined, 5);
  for (let round = 0; round < 5; round += 1) expect((await take(3)).toSorted()).toEqual(["big", "none", "small"]);
  expect(await take(100)).toEqual(of("big", 45));
});

test("without the flag the oldest is next", async () => {
  await limit({ group_concurrency: 1_000 });
  await add("big", 50);
  await add("small", 5);
  expect(await take(55)).toEqual([...of("big", 50), ...of("small", 5)]);
});

test("what waits already takes turns from the moment on when it is asked for, and no longer when it is not", async () => {
  await limit({ group_concurrency: 1_000 });
  await add("big", 50);
  await add("small", 5);
  await limit(fair);
  expect((await take(10)).filter((group) => group === "small")).toHaveLength(5);
  await limit({ group_concurrency: 1_000 });
  expect((await take(50)).slice(0, 50)).toEqual(of("big", 50));
  await add("big", 1);
  expect(await deps.signal.look(main)).toMatchObject({ in_turns: false });
});

test("after Redis loses everything, groups take turns again, though a backlog of others is older", async () => {
  await limit(fair);
  await add(undefined, 12_000);
  await add("small", 5);
  await deps.signal.setTurns(main, false);
  await age();
  await createOfferInTurns(deps)(main);
  expect((await take(10)).filter((group) => group === "small")).toHaveLength(5);
  expect((await deps.signal.look(main)).length).toBeGreaterThan(9_000);
});

test("a lost signal of a small group is sent again, however much waits in front of it", async () => {
  await limit(fair);
  await add(undefined, 6_000);
  await add("small", 3);
  // All of the small group's, and some of the others.
  expect((await take(6)).filter((group) => group === "small")).toHaveLength(3);
  await age();
  const offer = createOfferInTurns(deps);
  expect(await offer(main)).toBe(6);
  expect(await offer(main)).toBe(0);
  expect((await take(6)).filter((group) => group === "small")).toHaveLength(3);
});

test("each look goes on with the groups after those of the last one, so that a hundred thousand all have their turn", async () => {
  await limit({ fair_by: "group" });
  // No signals: Redis knows nothing yet.
  await add(undefined, 6_000);
  for (let n = 0; n < 1_200; n += 300) {
    const jobs = Array.from({ length: 300 }, (_, at) => submission({ group: `g${n + at}` }));
    for (const outcome of await submit(deps, jobs, { idempotency_ttl_seconds: 60 }))
      if ("job" in outcome) groups.set(outcome.job.id, "one");
  }
  while ((await deps.signal.take([main], 1_000)).length > 0);
  await deps.signal.setTurns(main, true);
  // So many are there that each look only repairs.
  const ungrouped = [...groups].flatMap(([id, group]) => (group === "none" ? [{ ...main, id, priority: 0 }] : []));
  await deps.signal.pushInTurns(ungrouped.map((job) => ({ ...job, group: null })));
  await age();
  const offer = createOfferInTurns(deps);
  for (let look = 0; look < 3; look += 1) await offer(main);
  expect((await take(8_000)).filter((group) => group === "one")).toHaveLength(1_200);
});

test("a group that another process made take turns is known by what Redis says, not by memory", async () => {
  await setLimits(deps, main, queueLimits.parse(fair));
  await add("big", 20);
  await add("small", 2);
  await age();
  // As a sweep does, after the one who set it died.
  const [ready] = await readyAmong(deps, [main]);
  expect(ready).toMatchObject({ in_turns: true, limited: false });
  await createOfferInTurns(deps)(main);
  expect((await take(4)).toSorted()).toEqual(["big", "big", "small", "small"]);
  await setLimits(deps, main, queueLimits.parse({}));
  await age();
  await resignalOrphans(deps, main);
  expect(await deps.signal.look(main)).toMatchObject({ in_turns: false, length: 22 });
});

test("rebuilt signals take turns", async () => {
  await limit(fair);
  await add("big", 50);
  await add("small", 5);
  await deps.signal.setTurns(main, false);
  await rebuildSignals(deps);
  expect((await take(10)).filter((group) => group === "small")).toHaveLength(5);
});

test("without a signal, claims go round the groups, from one to the next", async () => {
  await limit(fair);
  await add(undefined, 100);
  await add("a", 100);
  await add("b", 3);
  await add("c", 3);
  const turns = new Map<string, string>();
  const got: (string | undefined)[] = [];
  for (let round = 0; round < 12; round += 1)
    got.push(...groupsOf((await claimReady(deps, 2, { ...claimer, turns })).map(({ id }) => id)));
  expect(got).toHaveLength(24);
  for (const group of ["b", "c"]) expect(got.filter((one) => one === group)).toHaveLength(3);
  for (const group of ["a", "none"]) expect(got.filter((one) => one === group).length).toBeGreaterThan(3);
});

test("without a signal, groups whose jobs are running or not due keep none of those after them waiting", async () => {
  await limit({ fair_by: "group" });
  for (const group of ["a", "b"]) await add(group, 2);
  await add("c", 1, { delay_seconds: 3_600 });
  await add("d", 1);
  await add("z", 1);
  const turns = new Map<string, string>();
  const got: (string | undefined)[] = [];
  for (let claims = 0; claims < 3; claims += 1)
    got.push(...groupsOf((await claimReady(deps, 1, { ...claimer, turns })).map(({ id }) => id)));
  expect(got).toEqual(["a", "b", "d"]);
  // However many there are.
  for (let n = 0; n < 6_000; n += 500) {
    const jobs = Array.from({ length: 500 }, (_, at) => submission({ group: `e${n + at}`, delay_seconds: 3_600 }));
    await enqueue(deps, jobs, { idempotency_ttl_seconds: 60 });
  }
  await add("f", 1);
  // As a sweep has it done.
  await own.database.sql`ANALYZE atlasqueue.jobs, atlasqueue.job_groups`;
  for (let claims = 0; claims < 4; claims += 1)
    got.push(...groupsOf((await claimReady(deps, 1, { ...claimer, turns })).map(({ id }) => id)));
  expect(got.slice(3).toSorted()).toEqual(["f", "z"]);
});

test("without a signal, queues that never run empty do not keep those with turns waiting, nor the other way round", async () => {
  await limit(fair);
  await add("a", 40);
  await add(undefined, 40, { queue: "plain" });
  const queues = ["default", "plain"];
  const of_each = new Map<string, number>();
  for (let round = 0; round < 40; round += 1)
    for (const { queue } of await claimReady(deps, 1, { ...claimer, queues }))
      of_each.set(queue, (of_each.get(queue) ?? 0) + 1);
  expect(Math.min(...["default", "plain"].map((queue) => of_each.get(queue) ?? 0))).toBeGreaterThan(5);
});

test("without a signal, a claim with room for one goes round the queues that take turns, and leaves out those without jobs", async () => {
  await limit(fair);
  for (const queue of ["empty", "second"]) await setLimits(deps, { tenant: "default", queue }, queueLimits.parse(fair));
  await add("a", 20);
  await add("a", 20, { queue: "second" });
  const turns = new Map<string, string>();
  const queues = ["default", "empty", "second"];
  const of_each = new Map<string, number>();
  for (let round = 0; round < 12; round += 1) {
    const leases = await claimReady(deps, 1, { ...claimer, queues, turns });
    expect(leases).toHaveLength(1);
    for (const { queue } of leases) of_each.set(queue, (of_each.get(queue) ?? 0) + 1);
  }
  expect([of_each.get("default"), of_each.get("second")]).toEqual([6, 6]);
});

test("without a signal, queues without ready jobs cost a claim nothing, however many take turns, and give no other their turns", async () => {
  const queues = Array.from({ length: 60 }, (_, at) => `q${String(at).padStart(2, "0")}`);
  for (const queue of queues) await setLimits(deps, { tenant: "default", queue }, queueLimits.parse(fair));
  for (const queue of ["q07", "q08"]) await add("a", 10, { queue });
  const turns = new Map<string, string>();
  let statements = 0;
  const database = steppingDatabase(deps.database, (step) => void (step === "statement" && (statements += 1)));
  const of_each = new Map<string, number>();
  for (let round = 0; round < 10; round += 1)
    for (const { queue } of await claimReady({ ...deps, database }, 1, { ...claimer, queues, turns }))
      of_each.set(queue, (of_each.get(queue) ?? 0) + 1);
  expect([...of_each].toSorted()).toEqual([
    ["q07", 5],
    ["q08", 5],
  ]);
  expect(statements).toBeLessThan(80);
});

test("the next of an ordered group waits for its turn behind the other groups", async () => {
  await limit({ fair_by: "group" });
  await add("a", 3);
  await add("b", 1);
  await add("c", 1);
  const ids = await deps.signal.take([main], 1);
  expect(groupsOf(ids)).toEqual(["a"]);
  const leases = await claim(deps, ids, claimer);
  const [outcome] = await complete(
    deps,
    leases.map((lease) => ({ lease, result: null })),
  );
  await announce(deps, outcome?.kind === "applied" ? (outcome.ready ?? []) : []);
  expect(await take(10)).toEqual(["b", "c", "a"]);
});

test("ids of jobs that are gone do no harm", async () => {
  await limit(fair);
  await add("a", 3);
  const [first = ""] = groups.keys();
  await cancel(deps, "default", first);
  const ids = await deps.signal.take([main], 10);
  expect(ids).toHaveLength(3);
  expect(await claim(deps, ids, claimer)).toHaveLength(2);
});
