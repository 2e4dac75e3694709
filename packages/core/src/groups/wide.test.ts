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

test("a look lets through no more than one statement can: of some groups all that may go, and of the others in the next ones", async () => {
  await groupsOf("a", 100, 50);
  await widen("a", 1_000);
  expect(await advanceGroups(deps, 500)).toMatchObject({
    handovers: 40,
    more: true,
    left: true,
    later: ["a"],
    ready: { length: 2_000 },
  });
  expect(await advanceAll(deps)).toMatchObject({ total: 3_000, left: false, more: false });
  expect(await deps.database.sql`SELECT FROM group_handovers`).toEqual([]);
});

test("so it is where each has hundreds, and room for thousands", async () => {
  await groupsOf("a", 150, 210);
  await widen("a", 10_000);
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 10, more: true, ready: { length: 2_100 } });
});

test("where many groups have room for more than waits in them, all are dealt with at once", async () => {
  await groupsOf("a", 100, 19);
  await widen("a", 1_000);
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 100, more: false, ready: { length: 1_900 } });
});

test("a look goes through no more jobs that were let through before than one statement can, and the next ones through the rest", async () => {
  await groupsOf("a", 3, 3_001);
  await widen("a", 3_000);
  expect(await advanceAll(deps)).toMatchObject({ total: 3 * 2_999, left: false });
  await deps.database.sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups`;
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 2, more: true, left: true, later: ["a"] });
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 1, more: false, left: false, later: [] });
});

/** One tenant's group, of whose jobs many were let through, and another's of which one has ended. */
async function wideBesideStrict(): Promise<void> {
  await groupsOf("a", 1, 9_001);
  await widen("a", 9_000);
  await advanceAll(deps);
  await groupsOf("b", 1, 1);
  await deps.database.sql`
    UPDATE jobs SET status = 'succeeded', finished_at = now(), ready_at = NULL, holds_group = NULL
    WHERE tenant = 'b' AND status = 'queued'`;
  await deps.database.sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups ORDER BY tenant`;
}

test("a group that has let many through keeps no other waiting, however often it comes", async () => {
  await wideBesideStrict();
  expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 2, more: false, ready: [{ tenant: "b" }] });
});

test("nor does it while it is locked, and nobody looks at it again and again", async () => {
  await wideBesideStrict();
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM job_groups WHERE tenant = 'a' FOR UPDATE`;
    expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 1, more: false, left: true });
    expect(await jobs("b", "queued")).toBe(1);
    expect(await advanceGroups(deps, 500)).toMatchObject({ handovers: 0, more: false, left: true });
  });
});

test("of several that have let many through each look takes some, until none is left", async () => {
  for (const tenant of ["a", "b", "c"]) {
    await groupsOf(tenant, 1, 6_001);
    await widen(tenant, 6_000);
  }
  await advanceAll(deps);
  await deps.database.sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups`;
  const look = await advanceGroups(deps, 500);
  expect(look).toMatchObject({ handovers: 1, more: true, left: true, later: { length: 2 } });
  expect(await advanceAll(deps)).toMatchObject({ left: false });
});

test("many stuck ones that have let some through are set aside, too, and hide none that may go", async () => {
  await groupsOf("a", 30, 301);
  await widen("a", 300);
  await advanceAll(deps);
  const { sql } = deps.database;
  await sql.begin(async (stranger) => {
    await stranger`SELECT FROM job_groups FOR UPDATE`;
    await sql`INSERT INTO group_handovers SELECT tenant, queue, group_key FROM job_groups`;
    expect(await advanceGroups(deps, 20)).toMatchObject({ handovers: 0, more: true });
    expect(await sql`SELECT FROM group_handovers WHERE aside`).toHaveLength(17);
  });
});

test("what is added while a group has more to let through does not go before it", async () => {
  await groupsOf("a", 100, 50);
  await widen("a", 40);
  while ((await advanceAll(deps)).left)
    expect(await deps.database.sql`SELECT FROM job_groups WHERE cardinality(heads) NOT IN (1, 40)`).toEqual([]);
});

test("of a group whose limit is higher than that, ten thousand jobs are let through at once", async () => {
  await groupsOf("a", 1, 10_050);
  await widen("a", 100_000);
  expect(await advanceAll(deps)).toMatchObject({ total: 9_999, left: false });
});
