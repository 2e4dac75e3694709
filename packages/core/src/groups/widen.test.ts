import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness, main, tenant } from "../../test/engine-harness.ts";
import { createGroupWidener } from "./widen.ts";

const { deps, add } = engineHarness();

/** A widener whose looks at overdue groups wait until they are let go, one at a time. */
function heldWidener() {
  const waiting: (() => void)[] = [];
  const widener = createGroupWidener(deps, () => new Promise<void>((resolve) => waiting.push(resolve)));
  return {
    widener,
    /** The passes that were asked for. */
    passes: () => waiting.length,
    async letGo(nth: number): Promise<void> {
      await eventually(() => expect(waiting.length).toBeGreaterThanOrEqual(nth));
      waiting[nth - 1]?.();
    },
  };
}
const overdue = async () => {
  const rows = await deps.database.sql<{ queue: string }[]>`
    SELECT queue FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL ORDER BY queue`;
  return rows.map(({ queue }) => queue).join("");
};
const twoOfEach = (...queues: string[]) =>
  add(
    ...queues.flatMap((queue) => [
      { queue, group: "g" },
      { queue, group: "g" },
    ]),
  );
const of = (queue: string) => ({ tenant, queue });

test("however often a queue is widened meanwhile, its groups are gone through once more", async () => {
  await twoOfEach(main.queue);
  const { widener, passes, letGo } = heldWidener();
  const first = widener.widened(main);
  await eventually(() => expect(passes()).toBe(1));
  await Promise.all(Array.from({ length: 50 }, () => widener.widened(main)));
  await letGo(1);
  await letGo(2);
  await first;
  expect([passes(), await overdue()]).toEqual([2, main.queue]);
});

test("a tenant's queues are gone through one after another, beside those of others", async () => {
  await twoOfEach("a", "b");
  const { widener, passes, letGo } = heldWidener();
  const first = widener.widened(of("a"));
  await eventually(() => expect(passes()).toBe(1));
  await widener.widened(of("b"));
  const others = widener.widened({ tenant: "other", queue: "a" });
  await letGo(2);
  await others;
  expect(await overdue()).toBe("a");
  await letGo(1);
  await letGo(3);
  await first;
  expect(await overdue()).toBe("ab");
});

test("one that fails keeps none of the next from being gone through", async () => {
  await twoOfEach("a", "b");
  const failing = Promise.withResolvers<never>();
  let passes = 0;
  const widener = createGroupWidener(deps, () => ((passes += 1) === 1 ? failing.promise : Promise.resolve()));
  const first = widener.widened(of("a"));
  await eventually(() => expect(passes).toBe(1));
  await widener.widened(of("b"));
  failing.reject(new Error("away"));
  await expect(first).rejects.toThrow("away");
  expect(await overdue()).toBe("ab");
});

test("a group that another transaction holds is passed over, and holds up no other", async () => {
  await add(...["a", "a", "b", "b"].map((group) => ({ group })));
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.job_groups WHERE group_key = 'a' FOR UPDATE`;
    await createGroupWidener(deps, () => Promise.resolve()).widened(main);
  });
  expect(await deps.database.sql`SELECT group_key FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL`).toEqual([
    { group_key: "b" },
  ]);
});
