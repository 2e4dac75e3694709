import { expect, test } from "vitest";
import { markWidened } from "../../test/advance.ts";
import { engineHarness } from "../../test/engine-harness.ts";
import { countDrift } from "../counts/job-checks.ts";
import { advanceAllOverdue, advanceOverdue } from "./overdue.ts";

const { deps, limit, add, addMany, besideStranger, statuses, finish } = engineHarness({ group: "g" });
const dueNow = () =>
  deps.database.sql`UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE overdue_at IS NOT NULL`;
const overdue = async () =>
  (await deps.database.sql`SELECT FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL`).length;
const idsOf = (ready: readonly { id: string }[]) => ready.map(({ id }) => id);

test("a group whose next job was locked when it should have gone is overdue, and none comes before that job", async () => {
  const [a, b] = await add({}, {});
  let c: string | undefined;
  await besideStranger([b], async () => {
    expect(await finish(a)).toEqual([{ kind: "applied" }]);
    [c] = await add({});
    await dueNow();
    expect(await advanceOverdue(deps, 10)).toEqual({ groups: 1, ready: [] });
    // It is not looked at again and again.
    expect(await advanceOverdue(deps, 10)).toEqual({ groups: 0, ready: [] });
  });
  expect([await statuses(b, c), await overdue()]).toEqual([["blocked", "blocked"], 1]);
  await dueNow();
  expect(idsOf((await advanceOverdue(deps, 10)).ready)).toEqual([b]);
  expect([await statuses(b, c), await overdue()]).toEqual([["queued", "blocked"], 0]);
  expect(await finish(b)).toMatchObject([{ kind: "applied", ready: [{ id: c }] }]);
});

test("a page has a share for each tenant", async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.job_groups SELECT tenant, 'default', group_key::text, 1, 1, '{}', now()
    FROM unnest(ARRAY['a', 'b']) AS tenant, generate_series(1, 50) AS group_key`;
  await sql`DELETE FROM atlasqueue.job_groups WHERE tenant = 'b' AND group_key::int > 1`;
  expect(await advanceOverdue(deps, 10)).toMatchObject({ groups: 6 });
  expect(await sql`SELECT FROM atlasqueue.job_groups WHERE tenant = 'b'`).toEqual([]);
});

test("where thousands of a group may run, they go in several statements, and those added meanwhile come last", async () => {
  await addMany(4_001);
  await limit({ group_concurrency: 4_000 });
  await markWidened(deps);
  expect((await advanceOverdue(deps, 10)).ready).toHaveLength(2_000);
  const [last] = await add({});
  expect([await statuses(last), await overdue()]).toEqual([["blocked"], 1]);
  await advanceAllOverdue(deps);
  expect(await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE status = 'blocked'`).toHaveLength(2);
  expect(await overdue()).toBe(0);
  expect((await countDrift(deps, 10)).drifted).toEqual([]);
});
