import { type ReplayFilter, limits } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { anybody, replayWorld, tenant } from "../../test/replay-world.ts";
import { claim } from "../lease/claim.ts";
import { fail } from "../settle/settle.ts";
import { enqueueAll } from "../submit/enqueue-all.ts";
import { fingerprintOf } from "../dead-letters/fingerprint.ts";
import { createReplay } from "./create.ts";
import { listOperations } from "./find.ts";
import { steerOperation } from "./steer.ts";

const world = replayWorld();
const { dead, start, step, runOperation, look, statuses } = world;

test.each<[string, ReplayFilter, number]>([
  ["ids", { ids: [] }, 700],
  ["fingerprint", { fingerprint: fingerprintOf("Odd: 7") }, 3],
  ["type", { type: "mail" }, 703],
  ["queue", { queue: "default" }, 706],
  ["everything", { all: true }, 706],
  ["what died before a time", { died_before: "2020-01-01T00:00:00.000Z" }, 0],
])("a replay can be chosen by %s", async (_what, filter, count) => {
  await dead(700);
  const ids = (await world.sql`SELECT id FROM atlasqueue.jobs`).map(({ id }) => String(id));
  await dead(3, { error: "Odd: 1" });
  await dead(3, { type: "sms" });
  await dead(3, { of: "other" });
  const row = await start({ filter: filter.ids ? { ids } : filter });
  expect(row.total).toBe(count);
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: count, failed: 0 });
  expect((await statuses()).queued ?? 0).toBe(count);
  expect(await statuses("other")).toEqual({ dead: 3 });
});

test("what dies while a replay runs is not replayed by it: neither for the first time nor again", async () => {
  await dead(600);
  const row = await start({ filter: { all: true } });
  await step();
  const [one] = await world.sql`SELECT id, queue FROM atlasqueue.jobs WHERE status = 'queued' LIMIT 1`;
  const claimer = { tenant, queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const [lease] = await claim(world.deps, [String(one?.id)], claimer);
  if (!lease) throw new Error("not claimed");
  await fail(world.deps, [{ lease, error: "again", verdict: { kind: "dead", reason: "not_retryable" } }]);
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: 600, failed: 0 });
  expect(await statuses()).toEqual({ queued: 599, dead: 1 });
});

test("a replay with a rate does as many a second, and no page before its time", async () => {
  await dead(50);
  const row = await start({ filter: { all: true }, rate: 10 });
  await step();
  expect((await look(row)).done).toBe(10);
  await step();
  // What the first page took is paid for with a second; up to one may be made up for.
  const { done, next_at } = await look(row);
  expect(done).toBeLessThanOrEqual(20);
  const [clock] = await world.sql<{ now_ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::float8 AS now_ms`;
  const now_ms = clock?.now_ms ?? 0;
  expect(next_at.getTime()).toBeGreaterThan(now_ms - 1_000);
  const slow = await start({ filter: { all: true }, rate: 0.1 });
  await world.sql`UPDATE atlasqueue.operations SET next_at = now() + interval '50 seconds' WHERE id = ${row.id}`;
  await step();
  const after = await look(slow);
  expect(after.done).toBe(1);
  expect(after.next_at.getTime() - now_ms).toBeGreaterThan(8_000);
  expect(await step()).toBe(false);
});

test("a paused replay does nothing until it is resumed; a cancelled one nothing more", async () => {
  await dead(1_200);
  const row = await start({ filter: { all: true } });
  await step();
  expect(await steerOperation(world.deps, tenant, row.id, "pause")).toMatchObject({
    kind: "steered",
    row: { status: "paused" },
  });
  expect(await steerOperation(world.deps, tenant, row.id, "pause")).toMatchObject({ kind: "steered" });
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "paused", done: 500 });
  await steerOperation(world.deps, tenant, row.id, "resume");
  await step();
  expect(await look(row)).toMatchObject({ status: "running", done: 1_000 });
  expect(await steerOperation(world.deps, tenant, row.id, "cancel")).toMatchObject({
    kind: "steered",
    row: { status: "cancelled" },
  });
  await runOperation();
  expect(await statuses()).toEqual({ queued: 1_000, dead: 200 });
  expect(await steerOperation(world.deps, tenant, row.id, "resume")).toMatchObject({ kind: "over" });
  expect(await steerOperation(world.deps, "other", row.id, "cancel")).toEqual({ kind: "unknown" });
});

test("jobs of groups, with and without a row, are replayed in their order, patched", async () => {
  const submissions = [1, 2, 3].map((n) => ({
    ...submission({ type: "g", payload: { n }, group: "one", max_attempts: 1 }),
    tenant,
  }));
  await enqueueAll(world.deps, submissions, { idempotency_ttl_seconds: 60 });
  await world.sql`
    UPDATE atlasqueue.jobs SET status = 'dead', ready_at = NULL, group_seq = NULL, active_group_key = NULL, finished_at = now(),
                    dead_at = now() - (10 - (payload ->> 'n')::int) * interval '1 second', error_fingerprint = 'f'`;
  await world.sql`TRUNCATE atlasqueue.job_groups`;
  const row = await start({ filter: { type: "g" }, patch: { more: true } });
  await runOperation();
  expect(await look(row)).toMatchObject({ status: "done", done: 3, failed: 0 });
  const jobs = await world.sql`SELECT status, payload FROM atlasqueue.jobs ORDER BY coalesce(group_seq, 0)`;
  expect(jobs.map(({ status, payload }) => [status, payload])).toEqual([
    ["queued", { n: 1, more: true }],
    ["blocked", { n: 2, more: true }],
    ["blocked", { n: 3, more: true }],
  ]);
});

test("as many unfinished replays as there may be, and no more", async () => {
  for (let count = 0; count < limits.operations_max; count += 1) await start({ filter: { all: true } });
  expect(await createReplay(world.deps, { tenant, filter: { all: true } }, anybody)).toBeUndefined();
  expect(await createReplay(world.deps, { tenant: "other", filter: { all: true } }, anybody)).toBeDefined();
  const first = await listOperations(world.deps, tenant, 15, undefined);
  const second = await listOperations(world.deps, tenant, 15, first.next);
  expect([first.rows.length, second.rows.length, second.next]).toEqual([15, 5, undefined]);
});

test("a replay goes on at its own rate though the database's clock was set back", async () => {
  await dead(30);
  const row = await start({ filter: { all: true }, rate: 10 });
  await step();
  expect(await look(row)).toMatchObject({ done: 10 });
  // What the clock said then is an hour ahead of what it says now.
  await world.sql`UPDATE atlasqueue.operations SET next_at = next_at + interval '1 hour'`;
  await step();
  expect(await look(row)).toMatchObject({ done: 20 });
  // Now it rests for as long as its rate asks for.
  expect(await step()).toBe(false);
});

test("one tenant's twenty replays take turns with another's one", async () => {
  await dead(1_500);
  await dead(3_000, { of: "greedy" });
  for (let count = 0; count < limits.operations_max; count += 1)
    await start({ tenant: "greedy", filter: { all: true }, patch: { old: null } });
  const mine = await start({ filter: { all: true } });
  const turn = { tenant: "" };
  for (let page = 0; page < 4; page += 1) await step(world.deps, undefined, turn);
  expect((await look(mine)).done).toBe(1_000);
});
