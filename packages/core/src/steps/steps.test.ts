import { eventually, recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import type { Json, SubmitJobInput } from "@atlasqueue/contract";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { countDrift } from "../counts/drift.ts";
import { purge } from "../dead-letters/purge.ts";
import type { Deps } from "../deps.ts";
import { advanceGroups } from "../groups/advance.ts";
import { cancel } from "../jobs/cancel.ts";
import { deleteFinished } from "../jobs/delete.ts";
import { editAndRetry } from "../jobs/edit-and-retry.ts";
import { explainJob } from "../jobs/explain.ts";
import { findJob } from "../jobs/find.ts";
import { retry } from "../jobs/retry.ts";
import { claim } from "../lease/claim.ts";
import type { Lease } from "../lease/lease.ts";
import { release } from "../lease/release.ts";
import { setLimits } from "../limits/set.ts";
import { promoteDue } from "../maintenance/promote.ts";
import { firstId, prune } from "../maintenance/prune.ts";
import { complete } from "../settle/complete.ts";
import { fail } from "../settle/fail.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { findJobSteps, findLeasedSteps } from "./find.ts";
import { park } from "./park.ts";
import { sendSignal } from "./signal.ts";
import { storeStep } from "./store.ts";

let own: TestDatabase;
let deps: Deps;
const recorded = recordEvents();
const tenant = "default";
const claimer = { tenant, queues: ["default"], worker_id: "w1", lease_seconds: 30 };
const stranger = "01890000-0000-7000-8000-000000000000";

beforeAll(async () => {
  own = await testDatabase();
  deps = { database: own.database, observe: recorded.observe };
});
afterAll(() => own.drop());
beforeEach(async () => {
  await own.database.sql`
    TRUNCATE jobs, lease_batches, job_attempts, job_groups, group_handovers, queues, queue_counts, queue_changes, unique_keys,
             job_steps, job_signals, job_waits`;
  recorded.events.length = 0;
});

const add = async (...requests: Partial<SubmitJobInput>[]): Promise<string[]> => {
  const submissions = requests.map((request) => submission(request));
  const outcomes = await enqueue(deps, submissions, { idempotency_ttl_seconds: 60 });
  return outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
};
const take = async (id: string | undefined): Promise<Lease> => {
  const [lease] = await claim(deps, [id ?? ""], claimer);
  if (!lease) throw new Error(`${id} could not be claimed`);
  return lease;
};
const started = async (request: Partial<SubmitJobInput> = {}): Promise<Lease> => take((await add(request))[0]);
const read = (id: string) => findJob(deps, tenant, id);
const signal = (id: string, name = "go", payload: Json = null) => sendSignal(deps, tenant, id, name, payload);
const stored = async (id: string) => (await findJobSteps(deps, tenant, id))?.steps.map(({ name }) => name);
const timeIsOver = async (id: string): Promise<void> => {
  await own.database.sql`
    UPDATE jobs SET due_at = now() - interval '1 s', run_at = now() - interval '1 s' WHERE id = ${id} AND due_at > now()`;
  await own.database.sql`UPDATE job_waits SET until = now() - interval '1 s' WHERE job_id = ${id}`;
};
const die = (lease: Lease) =>
  fail(deps, [{ lease, error: "E: no", verdict: { kind: "dead", reason: "not_retryable" } }]);
const counts = async () => expect((await countDrift(deps, 1_000)).drifted).toEqual([]);

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
  for (const foreign of [{ ...lease, lease_token: stranger }]) {
    expect(await storeStep(deps, foreign, "a", 1)).toEqual({ kind: "lease_lost" });
    expect(await park(deps, foreign, "go", 60)).toEqual({ kind: "lease_lost" });
  }
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
  await own.database.sql`
    INSERT INTO job_steps SELECT ${lease.id}, 's' || n, '1', 1, now() FROM generate_series(1, 999) AS n`;
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
  await own.database.sql`
    INSERT INTO job_waits SELECT ${lease.id}, 'w' || n, now() + interval '1 hour' FROM generate_series(1, 1000) AS n`;
  expect(await park(deps, lease, "one more", 60)).toEqual({ kind: "full" });
  expect(await read(lease.id)).toMatchObject({ status: "running" });
  expect(await park(deps, lease, "w7", 60)).toMatchObject({ kind: "parked" });
});

test("a job is parked until its signal, and no attempt, history or slot is spent", async () => {
  const [id = ""] = await add({});
  for (let time = 1; time <= 50; time += 1) {
    const lease = await take(id);
    expect(lease.attempts).toBe(1);
    expect(await park(deps, lease, `s${time}`, 3_600)).toMatchObject({ kind: "parked" });
    const parked = await read(id);
    expect(parked).toMatchObject({ status: "scheduled", waits_for: `s${time}`, attempts: 0, locked_until: null });
    expect(parked?.due_at).toEqual(parked?.run_at);
    expect(await signal(id, `s${time}`, time)).toMatchObject({
      kind: "sent",
      woken: true,
      job: { status: "queued", waits_for: null, due_at: null },
    });
  }
  const lease = await take(id);
  expect(await park(deps, lease, "s50", 3_600)).toEqual({ kind: "signalled", payload: 50 });
  expect(await own.database.sql`SELECT FROM job_attempts`).toEqual([]);
  expect(recorded.named("job_parked")).toHaveLength(50);
  await complete(deps, [{ lease, result: null }]);
  await counts();
});

test("parking again under the same lease, as the answer was lost, changes nothing", async () => {
  const lease = await started();
  const first = await park(deps, lease, "go", 3_600);
  expect(await park(deps, lease, "go", 60)).toEqual(first);
  expect(recorded.named("job_parked")).toHaveLength(1);
  await counts();
});

test("a signal sent before its wait is not lost, and the first of its name counts", async () => {
  const [id = ""] = await add({});
  expect(await signal(id, "go", { by: "ada" })).toMatchObject({
    kind: "sent",
    woken: false,
    job: { status: "queued" },
  });
  expect(await signal(id, "go", { by: "bob" })).toMatchObject({ kind: "sent_before" });
  const lease = await take(id);
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "signalled", payload: { by: "ada" } });
  expect(await read(id)).toMatchObject({ status: "running", attempts: 1 });
});

test("a signal of another name does not wake a job", async () => {
  const lease = await started();
  await park(deps, lease, "go", 60);
  expect(await signal(lease.id, "stop")).toMatchObject({ kind: "sent", woken: false, job: { status: "scheduled" } });
  expect(await read(lease.id)).toMatchObject({ waits_for: "go" });
});

test("when the time is over the job goes on, and a signal that comes later does not count", async () => {
  const [id = ""] = await add({});
  await park(deps, await take(id), "go", 60);
  await timeIsOver(id);
  expect((await promoteDue(deps, 10)).map((job) => job.id)).toEqual([id]);
  expect(await read(id)).toMatchObject({ status: "queued", waits_for: null });
  expect(await signal(id)).toMatchObject({ kind: "too_late" });
  const lease = await take(id);
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "timed_out" });
  expect(await signal(id)).toMatchObject({ kind: "too_late" });
  expect(await park(deps, lease, "go", 60)).toEqual({ kind: "timed_out" });
  expect(await read(id)).toMatchObject({ status: "running", attempts: 1 });
});

test("a signal that came in time counts, although the job runs after its time", async () => {
  const [id = ""] = await add({});
  await park(deps, await take(id), "go", 60);
  await signal(id, "go", 1);
  await timeIsOver(id);
  expect(await park(deps, await take(id), "go", 60)).toEqual({ kind: "signalled", payload: 1 });
});

test("the time counts from the first time a job is parked, however early it was woken", async () => {
  const [id = ""] = await add({});
  const first = await park(deps, await take(id), "go", 60);
  await own.database.sql`UPDATE jobs SET due_at = now() WHERE id = ${id}`;
  await promoteDue(deps, 10);
  expect(await park(deps, await take(id), "go", 3_600)).toEqual(first);
});

test("a job that is parked keeps its turn in its group", async () => {
  const [first = "", second = ""] = await add({ group: "g" }, { group: "g" });
  await park(deps, await take(first), "go", 60);
  await advanceGroups(deps, 10);
  expect(await read(second)).toMatchObject({ status: "blocked" });
  await signal(first);
  await complete(deps, [{ lease: await take(first), result: null }]);
  await advanceGroups(deps, 10);
  expect(await read(second)).toMatchObject({ status: "queued" });
  await counts();
});

test("a job that is parked leaves its slot of a limited queue to others", async () => {
  const limits = { concurrency: 1, group_concurrency: null, rate: null, group_rate: null };
  await setLimits(deps, { tenant, queue: "default" }, limits);
  const [first = "", second = ""] = await add({}, {});
  const lease = await take(first);
  expect(await claim(deps, [second], claimer)).toEqual([]);
  await park(deps, lease, "go", 60);
  expect(await claim(deps, [second], claimer)).toHaveLength(1);
});

test("a final job takes no signal", async () => {
  const lease = await started();
  await complete(deps, [{ lease, result: null }]);
  expect(await signal(lease.id)).toEqual({ kind: "finished", status: "succeeded" });
  expect(await own.database.sql`SELECT FROM job_signals`).toEqual([]);
});

test("a parked job is cancelled like any that is scheduled, and retried it waits anew", async () => {
  const [id = ""] = await add({});
  const lease = await take(id);
  await storeStep(deps, lease, "a", 1);
  await signal(id, "other", 2);
  await park(deps, lease, "go", 60);
  await timeIsOver(id);
  expect(await cancel(deps, tenant, id)).toMatchObject({ kind: "cancelled", job: { waits_for: null } });
  expect(await signal(id)).toMatchObject({ kind: "finished" });
  await retry(deps, tenant, id);
  const again = await take(id);
  expect(await findJobSteps(deps, tenant, id)).toMatchObject({
    steps: [{ name: "a" }],
    signals: [{ name: "other" }],
    waits: [],
  });
  expect(await park(deps, again, "go", 60)).toMatchObject({ kind: "parked" });
  await counts();
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
    await own.database.sql`INSERT INTO job_waits VALUES (${id}, 'go', now())`;
  }
  const [pruned = "", deleted = "", purged = ""] = ids;
  const lease = async (id: string) => ({ ...claimer, ...(await read(id)) }) as unknown as Lease;
  await complete(deps, [
    { lease: await lease(pruned), result: null },
    { lease: await lease(deleted), result: null },
  ]);
  await die(await lease(purged));
  await deleteFinished(deps, tenant, [deleted]);
  await prune(deps, { succeeded_hours: 0, dead_hours: 100 }, firstId, 100);
  await purge(deps, { kind: "ids", tenant, ids: [purged], rest: [], until_us: Number.MAX_SAFE_INTEGER });
  expect(await own.database.sql`SELECT FROM jobs`).toEqual([]);
  for (const table of ["job_steps", "job_signals", "job_waits"])
    expect(await own.database.sql.unsafe(`SELECT FROM ${table}`), table).toEqual([]);
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
  const detail = `It waits for the signal "it's \\"go\\"" until ${job?.run_at.toISOString()}`;
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
  await own.database.sql`UPDATE job_steps SET result = ${`"${"ab".repeat(130_000)}"`}::text::json WHERE name = 'large'`;
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

test("a signal is never lost between the look of a job for it and its parking", async () => {
  for (let round = 0; round < 40; round += 1) {
    const lease = await started();
    const [parked, sent] = await Promise.all([park(deps, lease, "go", 3_600), signal(lease.id, "go", round)]);
    expect(sent).toMatchObject({ kind: "sent" });
    const job = await read(lease.id);
    if (parked.kind === "parked") expect(job).toMatchObject({ status: "queued", attempts: 0 });
    else expect(parked).toEqual({ kind: "signalled", payload: round });
  }
  await counts();
});

/** Sends its first statement so that it rests between its look at the job and its lock of the row. */
function restingOnce(): Deps {
  let rests = true;
  const unsafe = (text: string, ...rest: [never[], object]) => {
    const sent = rests
      ? text.replace("version FROM jobs WHERE", "version FROM jobs WHERE (SELECT pg_sleep(1)) IS NOT NULL AND")
      : text;
    rests = false;
    return own.database.sql.unsafe(sent, ...rest);
  };
  const sql = new Proxy(own.database.sql, {
    get: (target, name) => (name === "unsafe" ? unsafe : (Reflect.get(target, name) as unknown)),
  });
  return { ...deps, database: { ...own.database, sql } };
}
const untilItRests = () =>
  eventually(async () => {
    const resting = await own.database.sql`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    return resting.length > 0;
  });

test("a signal that is committed after the look for it, and before the parking, is seen all the same", async () => {
  const lease = await started();
  const parking = park(restingOnce(), lease, "go", 3_600);
  await untilItRests();
  expect(await signal(lease.id, "go", 17)).toMatchObject({ kind: "sent", woken: false });
  expect(await parking).toEqual({ kind: "signalled", payload: 17 });
});

test("a job that is parked after a signal's look at it, and before its lock, is woken all the same", async () => {
  const lease = await started();
  const sending = sendSignal(restingOnce(), tenant, lease.id, "go", 17);
  await untilItRests();
  expect(await park(deps, lease, "go", 3_600)).toMatchObject({ kind: "parked" });
  expect(await sending).toMatchObject({ kind: "sent", woken: true, job: { status: "queued" } });
});

test("another's transaction that has the row locked delays them, and is passed by nothing", async () => {
  const lease = await started();
  const impatient = { ...deps, database: { ...own.database, timeout_ms: 300 } };
  await own.database.sql.begin(async (tx) => {
    await tx`SELECT FROM jobs WHERE id = ${lease.id} FOR UPDATE`;
    for (const move of [
      () => storeStep(impatient, lease, "a", 1),
      () => park(impatient, lease, "go", 60),
      () => sendSignal(impatient, tenant, lease.id, "go", 1),
    ])
      await expect(move()).rejects.toMatchObject({ name: "DatabaseTimeoutError", outcome: "not_applied" });
  });
  expect(await findJobSteps(deps, tenant, lease.id)).toEqual({ steps: [], signals: [], waits: [] });
  expect(await storeStep(deps, lease, "a", 1)).toMatchObject({ kind: "stored" });
});
