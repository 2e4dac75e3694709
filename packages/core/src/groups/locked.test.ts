import { type TestDatabase } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { advanceGroups } from "./advance.ts";
import { claim } from "../lease/claim.ts";
import { complete } from "../settle/complete.ts";
import { claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, add, statuses, finish } = engineHarness({ group: "g" });

const advance = async () => (await advanceGroups(deps, 100)).ready.map(({ id }) => id);

/** Runs `work` while an open transaction holds what `lock` locks. */
const whileHeld = async <T>(lock: (tx: Tx) => Promise<unknown>, work: () => Promise<T>): Promise<T> =>
  deps.database.sql.begin(async (tx) => {
    await lock(tx);
    return work();
  }) as Promise<T>;
type Tx = Parameters<Parameters<TestDatabase["database"]["sql"]["begin"]>[1]>[0];

test("a group locked by an open transaction does not keep the others waiting", async () => {
  const [a] = await add({}, {});
  const heads = await add(...Array.from({ length: 20 }, (_, at) => ({ group: `h${at}` })));
  const nexts = await add(...Array.from({ length: 20 }, (_, at) => ({ group: `h${at}` })));
  await whileHeld(
    (tx) => tx`SELECT FROM job_groups WHERE group_key = 'g' FOR UPDATE`,
    async () => {
      for (const id of [a, ...heads]) await finish(id);
      expect((await advance()).toSorted()).toEqual(nexts.toSorted());
    },
  );
  expect((await advance()).length).toBe(1);
});

test("a group whose next job is locked by an open transaction keeps its order and holds up no other", async () => {
  const [a, b, c] = await add({}, {}, {});
  const [d, e] = await add({ group: "h" }, { group: "h" });
  await whileHeld(
    (tx) => tx`SELECT FROM jobs WHERE id = ${b ?? ""} FOR UPDATE`,
    async () => {
      await Promise.all([finish(a), finish(d)]);
      expect(await advanceGroups(deps, 100)).toMatchObject({ ready: [{ id: e }], left: true });
      expect(await statuses(b, c)).toEqual(["blocked", "blocked"]);
    },
  );
  expect(await advanceGroups(deps, 100)).toMatchObject({ ready: [{ id: b }], left: false });
});

test("more locked groups' notes than fit one look do not hide those of other groups", async () => {
  const locked = Array.from({ length: 600 }, (_, at) => ({ group: `locked-${at}` }));
  await add(...locked, ...locked);
  const [a, b] = await add({}, {});
  await deps.database.sql`
    INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups WHERE group_key LIKE 'locked-%'`;
  await finish(a);
  await whileHeld(
    (tx) => tx`SELECT FROM job_groups WHERE group_key LIKE 'locked-%' FOR UPDATE`,
    async () => {
      expect(await advanceGroups(deps, 500)).toMatchObject({ ready: [{ id: b }], left: true });
    },
  );
  const rest = [await advanceGroups(deps, 500), await advanceGroups(deps, 500)];
  expect(rest.map(({ handovers, left }) => [handovers, left])).toEqual([
    [500, true],
    [100, false],
  ]);
});

test("groups whose next jobs are locked, however many, hide none that may go on", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `held-${at}`);
  const firsts = await add(...names.map((group) => ({ group })), { group: "free" });
  const nexts = await add(...names.map((group) => ({ group })), { group: "free" });
  const leases = await claim(deps, firsts, claimer);
  // One by one, so that their notes are in this order.
  for (const lease of leases) await complete(deps, [{ lease, result: null }]);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM jobs WHERE id = ANY(${`{${nexts.slice(0, -1).join(",")}}`}::uuid[]) FOR UPDATE`;
    expect(await advanceGroups(deps, 50)).toMatchObject({ handovers: 1, left: true, ready: [{ id: nexts.at(-1) }] });
    expect(await advanceGroups(deps, 50)).toMatchObject({ handovers: 0, left: true, ready: [] });
  });
  expect(await advanceGroups(deps, 100)).toMatchObject({ handovers: 60, left: false });
  expect(new Set(await statuses(...nexts))).toEqual(new Set(["queued"]));
});
