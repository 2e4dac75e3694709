import { queueLimits, type QueueLimitsInput } from "@atlasqueue/contract";
import { eventually, steppingDatabase } from "@atlasqueue/testing";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { claimer, engineHarness, main, tenant } from "../../test/engine-harness.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { createFronts } from "./fronts.ts";
import { setLimits } from "./set.ts";

// Older jobs of limited queues, whose ids are missing in a list, before younger ones.

const { deps, add, addMany, die } = engineHarness();
const limit = (limits: QueueLimitsInput) => setLimits(deps, main, queueLimits.parse(limits));

/** Claims one after another, each for ids that came in, by a process that looked at the queue's first jobs before. */
async function claiming(now?: () => number) {
  const back: ReadyJob[] = [];
  const fronts = createFronts(deps, now);
  await eventually(() => expect(fronts.before(main, ["none"])).not.toEqual([]));
  const by = { ...claimer, fronts, put_back: (jobs: ReadyJob[]) => void back.push(...jobs) };
  const started = async (ids: string[]) => (await claim(deps, ids, by)).map(({ id }) => id);
  const run = async (ids: string[]) => {
    const leases = await claim(deps, ids, by);
    await complete(
      deps,
      leases.map((lease) => ({ lease, result: null })),
    );
    return leases.map(({ id }) => id);
  };
  return { back, fronts, started, run };
}

test("while older jobs wait, the id of a younger one is worth the start of the oldest, and is put back", async () => {
  await limit({ concurrency: 2 });
  const old = await addMany(3);
  const { back, run } = await claiming();
  const [young = ""] = await add({});
  for (const id of old) expect(await run([young])).toEqual([id]);
  const waits = { tenant, queue: "default", id: young, priority: 0 };
  expect(back).toEqual([waits, waits, waits]);
  expect(await run([young])).toEqual([young]);
  expect(back).toHaveLength(3);
});

test("of several ids as many jobs start as there is room for; those without room are not put back", async () => {
  await limit({ concurrency: 3 });
  const old = await addMany(2);
  const { back, started } = await claiming();
  const young = await addMany(5);
  expect(await started(young)).toEqual([young[0], ...old]);
  expect(back).toEqual([]);
});

test("a job of a higher priority starts before what is older, and what has ended is passed over", async () => {
  await limit({ concurrency: 9 });
  const [gone = "", old] = await addMany(2);
  const { run } = await claiming();
  await die(gone);
  const [low = "", high = ""] = await add({ priority: -1 }, { priority: 1 });
  expect(await run([low])).toEqual([old]);
  expect(await run([high])).toEqual([high]);
  expect(await run([low])).toEqual([low]);
});

test("ids whose jobs somebody has taken start nothing, and what is in front stays known", async () => {
  await limit({ concurrency: 5 });
  const [old] = await addMany(1);
  const { fronts, run } = await claiming();
  const [taken = "", young = ""] = await addMany(2);
  expect(await claim(deps, [taken], claimer)).toHaveLength(1);
  expect(await run([taken])).toEqual([]);
  expect(fronts.before(main, [young])).toEqual([old]);
  expect(await run([young])).toEqual([old]);
});

test("one that somebody else has locked is tried once a look: the next goes in its place", async () => {
  await limit({ concurrency: 5 });
  const [locked = "", old] = await addMany(2);
  const { fronts, run } = await claiming();
  const [young = ""] = await add({});
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${locked} FOR UPDATE`;
    expect(await run([young])).toEqual([old]);
    expect(fronts.before(main, [young])).not.toContain(locked);
  });
});

test("where groups have a rate it is the jobs of the ids that start", async () => {
  await limit({ group_rate: { limit: 9, period_seconds: 60 } });
  await addMany(2, { group: "a" });
  const { started } = await claiming();
  const [young = ""] = await add({ group: "b" });
  expect(await started([young])).toEqual([young]);
});

test("as long as ids come in their order, nothing else is tried", async () => {
  const ids = await addMany(4);
  const { fronts } = await claiming();
  expect(fronts.before(main, ids.slice(0, 2))).toEqual([]);
  expect(fronts.before(main, ids.slice(2, 3))).toEqual(ids.slice(0, 2));
  fronts.gone(main, ids.slice(0, 3));
  expect(fronts.before(main, ids.slice(3))).toEqual([]);
});

test("a queue is looked at once a second, and beside the claims", async () => {
  let looks = 0;
  let ms = 0;
  const gate = Promise.withResolvers<void>();
  const database = steppingDatabase(deps.database, async (step, _number, text) => {
    if (step !== "statement" || !text.includes("ORDER BY priority DESC, ready_at, id LIMIT")) return;
    looks += 1;
    await gate.promise;
  });
  const fronts = createFronts({ ...deps, database }, () => ms);
  const [first = ""] = await add({});
  for (let claims = 0; claims < 5; claims += 1) expect(fronts.before(main, ["none"])).toEqual([]);
  gate.resolve();
  await eventually(() => expect(fronts.before(main, ["none"])).toEqual([first]));
  await add({});
  ms = 999;
  expect([fronts.before(main, ["none"]), looks]).toEqual([[first], 1]);
  ms = 1_000;
  expect(fronts.before(main, ["none"])).toEqual([first]);
  await eventually(() => expect(fronts.before(main, ["none"])).toHaveLength(2));
  expect(looks).toBe(2);
});

test("a look that fails leaves what is known as it was", async () => {
  let fails = false;
  let ms = 0;
  const database = steppingDatabase(deps.database, () => {
    if (fails) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  });
  const events: string[] = [];
  const fronts = createFronts({ database, observe: ({ event }) => void events.push(event) }, () => ms);
  const [first = ""] = await add({});
  await eventually(() => expect(fronts.before(main, ["none"])).toEqual([first]));
  [fails, ms] = [true, 5_000];
  fronts.before(main, ["none"]);
  await eventually(() => expect(events).toEqual(["database_unavailable"]));
  // And the next look is not at once.
  for (let claims = 0; claims < 3; claims += 1) expect(fronts.before(main, ["none"])).toEqual([first]);
  await setImmediate();
  expect(events).toHaveLength(1);
});
