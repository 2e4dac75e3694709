import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { advanceOverdue } from "../groups/overdue.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { markWidened } from "../../test/advance.ts";
import { completeAll, claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, limit, addMany: add, status } = engineHarness();

const finish = (leases: Awaited<ReturnType<typeof claim>>) => completeAll(deps, leases);

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

test("queues without limits are not held up by those with limits", async () => {
  await limit({ concurrency: 1 });
  const held = await add(2);
  const free = await add(3, { queue: "free" });
  expect((await claim(deps, [...held, ...free], claimer)).length).toBe(4);
  expect((await claimReady(deps, 10, claimer)).length).toBe(0);
});

test("a lease has its full time, however long the claim waited for the queue", async () => {
  await limit({ concurrency: 1 });
  const ids = await add(1);
  let claiming: ReturnType<typeof claim> | undefined;
  const [row] = await deps.database.sql.begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.queues FOR UPDATE`;
    claiming = claim(deps, ids, claimer);
    await eventually(async () => {
      const waiting = await deps.database.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(waiting.length).toBe(1);
    });
    return tx<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
  });
  const [lease] = (await claiming) ?? [];
  const [job] = await deps.database.sql<{ locked_until: Date }[]>`
    SELECT locked_until FROM atlasqueue.jobs WHERE id = ${lease?.id ?? ""}`;
  expect(job?.locked_until.getTime()).toBeGreaterThanOrEqual((row?.at.getTime() ?? Infinity) + 30_000);
});

test("several of a group run at once when the queue allows it, and fewer again when it does not", async () => {
  const ids = await add(5, { group: "g" });
  expect(await limit({ group_concurrency: 3 })).toEqual({ groups_widened: true, marked: false });
  await markWidened(deps);
  expect((await advanceOverdue(deps, 100)).ready.map(({ id }) => id)).toEqual(ids.slice(1, 3));
  const leases = await claim(deps, ids, claimer);
  expect(leases.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  await limit({});
  await finish(leases.slice(0, 2));
  expect(await status(ids[3])).toBe("blocked");
  await finish(leases.slice(2));
  expect(await status(ids[3])).toBe("queued");
});
