import { queueLimits } from "@atlasqueue/contract";
import { eventually } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { refillQueue } from "./refill.ts";
import { createRefiller } from "./refiller.ts";
import { setLimits } from "./set.ts";
import { createStock } from "./stock.ts";
import { front_jobs_max, type Behind } from "./within-rates.ts";
import { claimReady } from "../lease/claim.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { claimer, engineHarness, main } from "../../test/engine-harness.ts";

const { deps, add, addUsedUp, finish } = engineHarness();

async function withFullFront(): Promise<void> {
  await setLimits(deps, main, queueLimits.parse({ group_rate: { limit: 1, period_seconds: 3_600 } }));
  await addUsedUp(front_jobs_max);
}

test("jobs behind thousands whose groups have no start left are claimed without a signal", async () => {
  await withFullFront();
  const others = await add({ group: "other" }, {});
  const serving = { ...claimer, behind: new Map() };
  const claimed = async () => (await claimReady(deps, 10, serving)).map(({ id }) => id);
  expect((await claimed()).sort()).toEqual(others.sort());
  expect(await claimed()).toEqual([]);
  // Those in front still go first.
  const [first = "", last = ""] = await add({ priority: 5 }, {});
  expect(await claimed()).toEqual([first, last]);
});

test("of those that others hold locked, behind thousands whose groups have no start left, a claim meets as many as it wants", async () => {
  await withFullFront();
  await add(...Array.from({ length: 40 }, () => ({})));
  const ids = (
    await deps.database.sql<
      { id: string }[]
    >`SELECT id FROM atlasqueue.jobs WHERE group_key IS NULL ORDER BY ready_at, id`
  ).map(({ id }) => id);
  const behind: Behind = new Map();
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id IN ${stranger(ids.slice(0, 30))} FOR UPDATE`;
    expect(await claimReady(deps, 10, { ...claimer, behind })).toEqual([]);
    const [place] = behind.values();
    expect(ids.slice(0, 10)).toContain(place?.next?.id);
  });
});

test("jobs behind thousands whose groups have no start left are signalled again, those further back by later looks", async () => {
  await withFullFront();
  const [near = ""] = await add({});
  await addUsedUp(front_jobs_max, -1);
  const [far = "", low = ""] = await add({ priority: -1 }, { priority: -2, group: "low" });
  const signal = memorySignal();
  const behind: Behind = new Map();
  const signalled = async (): Promise<string[]> => {
    await refillQueue({ ...deps, signal }, main, { behind });
    return signal.take([main], 1_000);
  };
  expect(await signalled()).toEqual([near]);
  expect((await signalled()).sort()).toEqual([far, low].sort());
  // From the end on anew: nobody has taken them.
  expect(await signalled()).toEqual([near]);
});

test("jobs that come in all the time behind such hide none between them that found no room", async () => {
  await withFullFront();
  const [waiting = ""] = await add({});
  const signal = memorySignal();
  const behind: Behind = new Map();
  for (let look = 0; look < 3; look += 1) {
    await refillQueue({ ...deps, signal }, main, { behind });
    expect(await signal.take([main], 1_000)).toContain(waiting);
    await add({});
  }
});

test("a backlog far behind such that outlasts its room hides none of those before it that may start later", async () => {
  const limits = { concurrency: 1, group_rate: { limit: 1, period_seconds: 3_600 } };
  await setLimits(deps, main, queueLimits.parse(limits));
  await addUsedUp(front_jobs_max);
  await addUsedUp(front_jobs_max, -1);
  await add(...Array.from({ length: 10 }, (_, at) => ({ group: `far ${at}`, priority: -2 })));
  const signal = memorySignal();
  const behind: Behind = new Map();
  const stock = createStock();
  const signalled = async (looks: number): Promise<string[]> => {
    const found: string[] = [];
    for (let look = 0; look < looks; look += 1) {
      await refillQueue({ ...deps, signal }, main, { behind }, stock);
      found.push(...(await signal.take([main], 1_000)));
    }
    return found;
  };
  expect(await signalled(3)).not.toEqual([]);
  const [later = ""] = await add({});
  expect(await signalled(3)).toContain(later);
});

test(
  "a page far behind with more than there is room for is looked at every second time, and what it had is kept meanwhile",
  { tags: ["slow"] },
  async () => {
    await addUsedUp(front_jobs_max);
    await addUsedUp(front_jobs_max, -1);
    await addUsedUp(front_jobs_max, -2);
    const ids = await add(...Array.from({ length: 10 }, (_, at) => ({ group: `far ${at}`, priority: -3 })));
    await setLimits(deps, main, queueLimits.parse({ concurrency: 2, group_rate: { limit: 1, period_seconds: 3_600 } }));
    const signal = memorySignal();
    const behind: Behind = new Map();
    const stock = createStock(() => 0);
    const found: number[] = [];
    for (let look = 0; look < 8; look += 1) {
      await refillQueue({ ...deps, signal }, main, { behind }, stock);
      found.push((await signal.take([main], 10)).length);
      if (look >= 2) expect(stock.of(main)).toEqual(ids);
    }
    expect(found).toEqual([0, 0, 2, 0, 2, 0, 2, 2]);
  },
);

test("what is found behind such and has no room yet is kept for the next refills, and found again when it is lost", async () => {
  await withFullFront();
  const ids = await add(...Array.from({ length: 20 }, (_, at) => ({ group: `other ${at}` })));
  const limits = { concurrency: 2, group_rate: { limit: 1, period_seconds: 3_600 } };
  await setLimits(deps, main, queueLimits.parse(limits));
  const signal = memorySignal();
  const behind: Behind = new Map();
  const first = createStock();
  await refillQueue({ ...deps, signal }, main, { behind }, first);
  expect(await signal.take([main], 10)).toEqual(ids.slice(0, 2));
  expect(first.of(main)).toEqual(ids);
  for (let next = 2; next < 6; next += 1) {
    await finish(ids[next - 2]);
    await refillQueue({ ...deps, signal }, main, "near", first);
    expect(await signal.take([main], 10)).toEqual(ids.slice(next - 1, next + 1));
  }
  const second = createStock();
  await refillQueue({ ...deps, signal }, main, { behind }, second);
  expect(second.of(main)).toEqual(ids.slice(4));
});

test(
  "a list in which they are already is not added to, as no worker may be there to take them",
  { tags: ["slow"] },
  async () => {
    await withFullFront();
    await add({}, { group: "other" }, { priority: -1 });
    const signal = memorySignal();
    for (let look = 0; look < 4; look += 1) await refillQueue({ ...deps, signal }, main, { behind: new Map() });
    expect((await signal.look(main)).length).toBe(3);
  },
);

test("nor by processes that know of different ones, as their jobs end one after another", async () => {
  await withFullFront();
  const ids = await add(...Array.from({ length: 40 }, (_, at) => ({ group: `other ${at}` })));
  const signal = memorySignal();
  const [one, two] = [createStock(), createStock()];
  one.add(main, ids.slice(0, 20));
  two.add(main, ids.slice(20));
  for (let end = 0; end < 10; end += 1)
    for (const stock of [one, two]) await refillQueue({ ...deps, signal }, main, "near", stock);
  expect((await signal.look(main)).length).toBeLessThanOrEqual(40);
});

/** A front of ten groups, of which each has two starts left. */
async function withFewStarts(): Promise<string[]> {
  await setLimits(
    deps,
    main,
    queueLimits.parse({ group_concurrency: 1_000, group_rate: { limit: 2, period_seconds: 3_600 } }),
  );
  for (let at = 0; at < 10; at += 1)
    await add(...Array.from({ length: front_jobs_max / 10 }, () => ({ group: `large ${at}` })));
  return add({ group: "other" }, {});
}

test("groups with a start left hide others with the jobs they can't start no more than those without", async () => {
  const others = await withFewStarts();
  const signal = memorySignal();
  const behind: Behind = new Map();
  await refillQueue({ ...deps, signal }, main, { behind });
  const signalled = await signal.take([main], 1_000);
  expect(signalled).toHaveLength(22);
  expect(signalled.slice(20)).toEqual(others);
});

test("nor while jobs of theirs end all the time, and free the queue", async () => {
  const others = await withFewStarts();
  const signal = memorySignal();
  const refiller = createRefiller({ ...deps, signal });
  const signalled: string[] = [];
  await eventually(async () => {
    refiller.freed(main);
    signalled.push(...(await signal.take([main], 1_000)));
    expect(signalled).toEqual(expect.arrayContaining(others));
  });
  refiller.stop();
});
