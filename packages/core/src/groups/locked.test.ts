import { type TestDatabase } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { advanceGroups } from "./advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";

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

test("a note locked by an open transaction holds up its own group alone", async () => {
  const heads = await add({}, { group: "h" });
  const [b, next] = await add({}, { group: "h" });
  for (const id of heads) await finish(id);
  await whileHeld(
    (tx) => tx`SELECT FROM group_handovers WHERE group_key = 'g' FOR UPDATE`,
    async () => {
      const beside = { ...deps, database: { ...deps.database, timeout_ms: 1_000 } };
      expect(await advanceGroups(beside, 100)).toMatchObject({ handovers: 1, left: true, ready: [{ id: next }] });
    },
  );
  expect(await advanceGroups(deps, 100)).toMatchObject({ ready: [{ id: b }], left: false });
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
