import { queueLimits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { engineHarness, main } from "../../test/engine-harness.ts";
import { setLimits } from "../limits/set.ts";
import { advanceAll } from "./advance-all.ts";
import { advanceGroups } from "./advance.ts";
import { noteBlockedGroups } from "./widen.ts";

const { deps } = engineHarness();

/** Groups with one job that is queued, and others behind it. */
async function groupsOf(tenant: string, groups: number, blocked: number): Promise<void> {
  await deps.database.sql`
    WITH own AS (SELECT 'g' || n AS group_key, gen_random_uuid() AS head FROM generate_series(1, ${groups}::int) AS n), first AS (
      INSERT INTO jobs (id, tenant, queue, type, status, run_at, ready_at, created_at, updated_at, payload, group_key, holds_group)
      SELECT head, ${tenant}, ${main.queue}, 'noop', 'queued', now(), now(), now(), now(), '{}', group_key, group_key FROM own
    ), others AS (
      INSERT INTO jobs (id, tenant, queue, type, status, run_at, created_at, updated_at, payload, group_key, blocked_seq)
      SELECT gen_random_uuid(), ${tenant}, ${main.queue}, 'noop', 'blocked', now(), now(), now(), '{}', group_key, n + 1
      FROM own, generate_series(1, ${blocked}::int) AS n)
    INSERT INTO job_groups (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT ${tenant}, ${main.queue}, group_key, 1 + ${blocked}::int, 1, ARRAY[head] FROM own`;
}
const widen = async (tenant: string, group_concurrency: number) => {
  const queue = { tenant, queue: main.queue };
  await setLimits(deps, queue, queueLimits.parse({ group_concurrency }));
  await noteBlockedGroups(deps, queue, "", 1_000);
};
const jobs = async (tenant: string, status: string) =>
  (await deps.database.sql`SELECT FROM jobs WHERE tenant = ${tenant} AND status = ${status}`).length;

test("a look lets through no more than one statement can, a part of each group, and the next ones the rest", async () => {
  await groupsOf("a", 100, 50);
  await widen("a", 1_000);
  expect(await advanceGroups(deps, 500)).toMatchObject({
    handovers: 100,
    more: true,
    left: true,
    later: ["a"],
    ready: { length: 2_000 },
  });
  const sizes = await deps.database.sql`SELECT DISTINCT cardinality(heads) AS heads FROM job_groups`;
  expect([...sizes]).toEqual([{ heads: 21 }]);
  expect(await advanceAll(deps)).toMatchObject({ total: 3_000, left: false, more: false });
  expect(await deps.database.sql`SELECT FROM group_handovers`).toEqual([]);
});

test("a look goes through no more jobs that were let through before than one statement can, and the next ones through the rest", async () => {
  await groupsOf("a", 3, 3_001);
  await widen("a", 3_000);
  expect(await advanceAll(deps)).toMatchObject({ total: 3 * 2_999, left: false });
  await deps.database.sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups`;
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 2, more: true, left: true, later: ["a"] });
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 1, more: false, left: false, later: [] });
});

test("one tenant's wide groups come after the first of another's, and in the next look after all of these", async () => {
  await groupsOf("a", 3, 3_001);
  await widen("a", 3_000);
  await advanceAll(deps);
  await groupsOf("b", 3, 1);
  await deps.database.sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups ORDER BY tenant`;
  await widen("b", 2);
  await advanceGroups(deps, 4);
  expect(await jobs("b", "queued")).toBe(4);
  await advanceGroups(deps, 4, ["a"]);
  expect(await jobs("b", "queued")).toBe(6);
});

test("of a group whose limit is higher than that, ten thousand jobs are let through at once", async () => {
  await groupsOf("a", 1, 10_050);
  await widen("a", 100_000);
  expect(await advanceAll(deps)).toMatchObject({ total: 9_999, left: false });
});
