import { eventually, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { roomIn } from "./capacity.ts";
import { claim, claimReady } from "../lease/claim.ts";
import type { Claimer } from "../lease/lease.ts";
import { enqueue } from "../submit/enqueue.ts";
import { completeAll, claimer, engineHarness } from "../../test/engine-harness.ts";

const { deps, limit, addMany: add } = engineHarness();

const finish = (leases: Awaited<ReturnType<typeof claim>>) => completeAll(deps, leases);

test("a rate holds in any window, and says when there is room again", async () => {
  await limit({ rate: { limit: 2, period_seconds: 60 } });
  const ids = await add(5);
  let told: [string, number] | undefined;
  const throttled: Claimer["throttled"] = ({ queue }, in_ms) => (told = [queue, in_ms]);
  const leases = await claim(deps, ids, { ...claimer, throttled });
  await finish(leases);
  expect(leases.length).toBe(2);
  expect(await claim(deps, ids.slice(2), { ...claimer, throttled })).toEqual([]);
  expect(told?.[0]).toBe("default");
  expect(told?.[1]).toBeGreaterThan(50_000);
  // Starts count until the end of their hundredth of the period.
  expect(told?.[1]).toBeLessThanOrEqual(60_600);
  // The window moves on.
  await deps.database.sql`UPDATE atlasqueue.queue_starts SET started_at = started_at - interval '61 s'`;
  expect((await claim(deps, ids.slice(2), claimer)).length).toBe(2);
  const [row] = await deps.database.sql`SELECT count(*)::int AS n FROM atlasqueue.queue_starts`;
  expect(row?.["n"]).toBe(1);
});

test("a clock that is set back keeps no queue or group waiting until it is where it was", async () => {
  await limit({ rate: { limit: 2, period_seconds: 60 }, group_rate: { limit: 1, period_seconds: 60 } });
  const ids = await add(3, { group: "g" });
  expect(await claim(deps, ids, claimer)).toHaveLength(1);
  await deps.database.sql`UPDATE atlasqueue.queue_starts SET started_at = started_at + interval '1 hour', count = 2`;
  const [other = ""] = await add(1, { group: "h" });
  expect(await claim(deps, [other], claimer)).toHaveLength(1);
});

test("a start that a claim commits while the period is shortened counts as well", async () => {
  await limit({ rate: { limit: 1_000, period_seconds: 86_400 } });
  let limited: Promise<unknown> | undefined;
  await deps.database.sql.begin(async (other) => {
    await other`SELECT FROM atlasqueue.queues FOR UPDATE`;
    limited = limit({ rate: { limit: 1, period_seconds: 10 } });
    await eventually(async () => {
      const waiting = await deps.database.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(waiting).toHaveLength(1);
    });
    await other`INSERT INTO atlasqueue.queue_starts VALUES ('default', 'default', NULL, now() + interval '10 minutes', 1)`;
  });
  await limited;
  await add(1);
  expect(await claimReady(deps, 1, claimer)).toEqual([]);
});

test("starts in a period keep a bounded number of rows, for the queue and for each group", async () => {
  const rate = { limit: 100_000, period_seconds: 600 };
  await limit({ rate, group_rate: rate, group_concurrency: 1_000 });
  const ids = await add(100, { group: "g" });
  for (const id of ids) expect((await claim(deps, [id], claimer)).length).toBe(1);
  const kept = await deps.database.sql<{ group_key: string | null; rows: number; starts: number }[]>`
    SELECT group_key, count(*)::int AS rows, sum(count)::int AS starts FROM atlasqueue.queue_starts GROUP BY group_key`;
  expect(kept.map(({ starts }) => starts)).toEqual([100, 100]);
  for (const { rows } of kept) expect(rows).toBeLessThanOrEqual(20);
});

test("a claim reads only the starts of the rates it checks", async () => {
  await limit({ rate: { limit: 100, period_seconds: 60 } });
  await deps.database.sql`
    INSERT INTO atlasqueue.queue_starts SELECT 'default', 'other', NULL, now(), 1 FROM generate_series(1, 20_000)`;
  await deps.database.sql`ANALYZE atlasqueue.queue_starts`;
  const plan = await deps.database.sql<{ "QUERY PLAN": string }[]>`
    EXPLAIN ${deps.database.sql.unsafe(`SELECT ${roomIn("queues")} FROM atlasqueue.queues WHERE tenant = 'default' AND queue = 'default'`)}`;
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan on queue_starts");
});

test("a group rate applies to each group separately, and holds back no job without a group", async () => {
  await limit({ group_rate: { limit: 1, period_seconds: 60 }, group_concurrency: 5 });
  const a = await add(3, { group: "a" });
  const b = await add(2, { group: "b" });
  const plain = await add(2);
  const leases = await claim(deps, [...a, ...b, ...plain], claimer);
  expect(leases.map(({ id }) => id)).toEqual([a[0], b[0], ...plain]);
  expect(await claim(deps, [...a, ...b], claimer)).toEqual([]);
});

test("groups that have used up their rate hold up no others, with Redis or without, however many there are", async () => {
  await limit({ group_rate: { limit: 1, period_seconds: 60 }, group_concurrency: 2 });
  const of = (at: number) => submission({ group: `g${at % 600}` });
  const submissions = Array.from({ length: 1_200 }, (_, at) => of(at));
  const stored = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
  const ids = stored.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  expect((await claim(deps, ids, claimer)).length).toBe(600);
  const [other = "", another = ""] = [...(await add(1)), ...(await add(1, { group: "other" }))];
  expect((await claimReady(deps, 1, claimer)).map(({ id }) => id)).toEqual([other]);
  expect((await claimReady(deps, 5, claimer)).map(({ id }) => id)).toEqual([another]);
});
