import { firstId } from "../ids.ts";
import { expect, test } from "vitest";
import { claimer, tenant } from "../../test/engine-harness.ts";
import { stepsHarness, stranger } from "../../test/steps-harness.ts";
import { purge } from "../dead-letters/bulk.ts";
import { deleteFinished } from "../jobs/delete.ts";
import { editAndRetry } from "../jobs/edit-and-retry.ts";
import { explainJob } from "../jobs/explain.ts";
import { retry } from "../jobs/retry.ts";
import type { Lease } from "../lease/lease.ts";
import { release } from "../lease/release.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { prune } from "../maintenance/prune.ts";
import { complete, fail } from "../settle/settle.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { findJobSteps, findLeasedSteps } from "./find.ts";
import { park } from "./park.ts";
import { sendSignal } from "./signal.ts";
import { storeStep } from "./store.ts";

const { deps, add, take, started, read, signal, stored, die } = stepsHarness();

test("the first result of a step is the one that is kept, whoever stores another", async () => {
  const lease = await started();
  expect(await storeStep(deps, lease, "charge", { id: 17 })).toEqual({ kind: "stored", result: { id: 17 } });
  expect(await storeStep(deps, lease, "charge", { id: 18 })).toEqual({ kind: "stored", result: { id: 17 } });
  expect(await findJobSteps(deps, tenant, lease.id)).toMatchObject({
    steps: [{ name: "charge", result: { id: 17 }, attempt: 1 }],
    signals: [],
    waits: [],
  });
});

test("of many who store a step at once, all are given the same result", async () => {
  const lease = await started();
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, at) => storeStep(deps, lease, "one", at)));
  expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
  expect(await stored(lease.id)).toEqual(["one"]);
});

test("only the holder of the current lease stores a step or parks the job", async () => {
  const lease = await started();
  const foreign = { ...lease, lease_token: stranger };
  expect(await storeStep(deps, foreign, "a", 1)).toEqual({ kind: "lease_lost" });
  expect(await park(deps, foreign, "go", 60)).toEqual({ kind: "lease_lost" });
  for (const unknown of [
    { ...lease, tenant: "acme" },
    { ...lease, id: stranger },
  ]) {
    expect(await storeStep(deps, unknown, "a", 1)).toEqual({ kind: "unknown" });
    expect(await park(deps, unknown, "go", 60)).toEqual({ kind: "unknown" });
  }
  expect(await sendSignal(deps, "acme", lease.id, "go", null)).toEqual({ kind: "unknown" });
  expect(await findJobSteps(deps, "acme", lease.id)).toBeUndefined();
  await release(deps, [lease]);
  expect(await storeStep(deps, lease, "a", 1)).toEqual({ kind: "lease_lost" });
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "lease_lost" });
  expect(await stored(lease.id)).toEqual([]);
});

test("a job has as many steps, and as many bytes of results, as it may", async () => {
  const lease = await started();
  await deps.database.sql`
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt)
    SELECT 'default', ${lease.id}, 'step', 's' || n, '1', now(), 1 FROM generate_series(1, 999) AS n`;
  expect(await storeStep(deps, lease, "last", 1)).toMatchObject({ kind: "stored" });
  expect(await storeStep(deps, lease, "too many", 1)).toEqual({ kind: "full" });
  expect(await storeStep(deps, lease, "last", 1)).toMatchObject({ kind: "stored" });
  const heavy = await started();
  for (let at = 0; at < 16; at += 1) {
    const random = Array.from({ length: 18_500 }, () => Math.random().toString(36).slice(2, 13)).join("");
    const expected = at * 203_502 > 4_194_304 - 203_502 ? "full" : "stored";
    expect((await storeStep(deps, heavy, `s${at}`, random.slice(0, 203_500).padEnd(203_500, "x"))).kind).toBe(expected);
  }
  const before = (await stored(heavy.id))?.length ?? 0;
  for (let at = 16; at < 22; at += 1) await storeStep(deps, heavy, `s${at}`, "x".repeat(203_500) + String(at));
  expect((await stored(heavy.id))?.length).toBe(20);
  expect(before).toBe(16);
});

test("a job waits for as many signals as it may, and again for any of these", async () => {
  const lease = await started();
  await deps.database.sql`
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, at, until)
    SELECT 'default', ${lease.id}, 'wait', 'w' || n, now(), now() + interval '1 hour' FROM generate_series(1, 1000) AS n`;
  expect(await park(deps, lease, "one more", 60)).toEqual({ kind: "full" });
  expect(await read(lease.id)).toMatchObject({ status: "running" });
  expect(await park(deps, lease, "w7", 60)).toMatchObject({ kind: "parked" });
});

test("steps stay through failures and a person's retry, and go with an edited payload", async () => {
  const [id = ""] = await add({});
  const lease = await take(id);
  await storeStep(deps, lease, "a", 1);
  await fail(deps, [{ lease, error: "E: x", verdict: { kind: "retry", delay_ms: 0 } }]);
  await promoteDue(deps, 10);
  await die(await take(id));
  await retry(deps, tenant, id);
  expect(await stored(id)).toEqual(["a"]);
  await signal(id);
  await die(await take(id));
  await editAndRetry(deps, tenant, id, { payload: {} }, 1_000);
  expect(await findJobSteps(deps, tenant, id)).toEqual({ steps: [], signals: [], waits: [] });
  expect(await read(id)).toMatchObject({ has_steps: null });
});

test("with a job go its steps, signals and waits: pruned, deleted or purged", async () => {
  const ids = await add({}, {}, {});
  for (const id of ids) {
    await storeStep(deps, await take(id), "a", 1);
    await signal(id, "other");
    await deps.database
      .sql`INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, at, until) VALUES (${tenant}, ${id}, 'wait', 'go', now(), now())`;
  }
  const [pruned = "", deleted = "", purged = ""] = ids;
  const lease = async (id: string) => ({ ...claimer, ...(await read(id)) }) as unknown as Lease;
  await complete(deps, [
    { lease: await lease(pruned), result: null },
    { lease: await lease(deleted), result: null },
  ]);
  await die(await lease(purged));
  await deleteFinished(deps, tenant, [deleted]);
  await prune(deps, { succeededHours: 0, deadHours: 100 }, firstId, 100);
  await purge(deps, { kind: "ids", tenant, ids: [purged], rest: [], until_us: Number.MAX_SAFE_INTEGER });
  expect(await deps.database.sql`SELECT FROM atlasqueue.jobs`).toEqual([]);
  expect(await deps.database.sql`SELECT FROM atlasqueue.job_state`).toEqual([]);
});

test("a job that has begun is not replaced by a newer request, which makes one of its own", async () => {
  const unique = { key: "u", on_conflict: "replace" } as const;
  const [id = ""] = await add({ unique, payload: { n: 1 } });
  const lease = await take(id);
  await storeStep(deps, lease, "a", 1);
  await park(deps, lease, "go", 60);
  const [other = ""] = await add({ unique, payload: { n: 2 } });
  expect(await read(id)).toMatchObject({ status: "scheduled", waits_for: "go", payload: { n: 1 } });
  expect(await read(other)).toMatchObject({ status: "queued", payload: { n: 2 } });
  expect(await stored(id)).toEqual(["a"]);
});

test("explain says which signal a job waits for, and until when", async () => {
  const lease = await started();
  await park(deps, lease, 'it\'s "go"', 60);
  const job = await read(lease.id);
  const detail = `It waits for the signal "it's \\"go\\"" until ${job?.run_at.toISOString()}.`;
  expect(await explainJob({ ...deps, signal: memorySignal() }, tenant, lease.id)).toMatchObject({
    reasons: [{ code: "waiting_for_signal", detail }],
  });
});

test("what comes with a lease is the first of it, by any name, and whether that is all", async () => {
  const [one = "", heavy = "", none = ""] = await add({}, {}, {});
  const lease = await take(one);
  for (const name of ["__proto__", "constructor", "it's"]) await storeStep(deps, lease, name, name);
  await signal(one, "go", { a: [1] });
  const other = await take(heavy);
  await storeStep(deps, other, "first", 1);
  await storeStep(deps, other, "large", "x".repeat(200_000));
  await deps.database
    .sql`UPDATE atlasqueue.job_state SET value = ${`"${"ab".repeat(130_000)}"`}::text::json WHERE name = 'large'`;
  const found = await findLeasedSteps(deps, tenant, [one, heavy, none]);
  expect([...found.keys()].sort()).toEqual([one, heavy].sort());
  expect(Object.entries(found.get(one)?.steps ?? {})).toEqual(
    ["__proto__", "constructor", "it's"].map((name) => [name, name]),
  );
  expect(found.get(one)).toMatchObject({ signals: { go: { a: [1] } }, complete: true });
  expect(found.get(heavy)).toEqual({ steps: { first: 1, large: "ab".repeat(130_000) }, signals: {}, complete: true });
  await storeStep(deps, other, "more", "x".repeat(3_000));
  await storeStep(deps, other, "last", 1);
  const more = (await findLeasedSteps(deps, tenant, [heavy])).get(heavy);
  expect([Object.keys(more?.steps ?? {}), more?.complete]).toEqual([["first", "large"], false]);
  expect(await findLeasedSteps(deps, "acme", [one])).toEqual(new Map());
});
