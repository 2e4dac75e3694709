import { limits, type CatchUp } from "@atlasqueue/contract";
import { forFile, recordEvents, simulateClock, steppingDatabase, testDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { connectDatabase } from "../database/connect.ts";
import type { Deps } from "../deps.ts";
import { bringBack, firstSchedule } from "./bring-back.ts";
import { findSchedule } from "./list.ts";
import { readDueSummary } from "../maintenance/due-summary.ts";
import { fireAll } from "./fire-due.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import type { Signal } from "../signal/signal.ts";
import { putSchedule } from "./store.ts";
import { deleteSchedule, pauseSchedule, resumeSchedule } from "./pause.ts";

const tenant = "default";
const ref = { tenant, name: "report" };
const own = forFile(testDatabase);
const clock = forFile(() => simulateClock(own.url, "2025-01-01T00:00:00Z"));
const database = forFile(async () => connectDatabase({ url: own.url, connectionsMax: 10, timeoutMs: 15_000 }));
let deps: Deps & { signal: Signal };
const recorded = recordEvents();

beforeEach(async () => {
  await database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.idempotency_keys, atlasqueue.outbox, atlasqueue.schedules, atlasqueue.queue_changes`;
  recorded.events.length = 0;
  deps = { database, observe: recorded.observe, signal: memorySignal() };
  await clock.set("2025-01-01T08:30:00Z");
});

const define = (changes: { name?: string; cron?: string; catch_up?: CatchUp; payload?: { n: number } } = {}) => ({
  name: "report",
  cron: "0 * * * *",
  timezone: "UTC",
  catch_up: "one" as CatchUp,
  ...changes,
  job: { type: "report.send", payload: changes.payload ?? {}, queue: "mail", priority: 3, max_attempts: 2 },
});
/** The slots that got a job, by the jobs' keys. */
const slots = async (name = "report") => {
  const rows = await database.sql<{ slot: string }[]>`
    SELECT split_part(key, ':', 3) || ':' || split_part(key, ':', 4) AS slot FROM atlasqueue.idempotency_keys JOIN atlasqueue.jobs ON id = job_id
    WHERE starts_with(key, ${`schedule:${name}:`}) ORDER BY key`;
  return rows.map(({ slot }) => slot.slice(5));
};

test("after a moment with a clock far ahead, schedules fire at their next slots again, none twice", async () => {
  await putSchedule(deps, tenant, define());
  await putSchedule(deps, tenant, define({ name: "all", cron: "*/30 * * * *", catch_up: "all" }));
  await putSchedule(deps, tenant, define({ name: "none", catch_up: "none" }));
  await putSchedule(deps, tenant, define({ name: "held" }));
  await clock.set("2025-01-01T09:40:00Z");
  await fireAll(deps);
  await clock.set("2026-01-01T00:00:30Z");
  await putSchedule(deps, tenant, define({ name: "made then" }));
  await pauseSchedule(deps, { tenant, name: "made then" });
  await fireAll(deps);
  await clock.set("2025-01-01T09:41:00Z");
  const next = async (name: string) => (await findSchedule(deps, { tenant, name }))?.next_at;
  expect(await next("report")).toEqual(new Date("2026-01-01T01:00Z"));
  await own.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.schedules WHERE name = 'held' FOR UPDATE`;
    expect(await bringBack(deps, firstSchedule, 2)).toMatchObject({ name: "held" });
    expect(await bringBack(deps, { tenant, name: "held" }, 3)).toBeUndefined();
  });
  for (const name of ["report", "none"]) expect(await next(name)).toEqual(new Date("2025-01-01T10:00Z"));
  for (const name of ["held", "made then"]) expect(await next(name)).toEqual(new Date("2026-01-01T01:00Z"));
  await bringBack(deps, firstSchedule, 10);
  expect(await next("held")).toEqual(new Date("2025-01-01T10:00Z"));
  await clock.set("2025-01-01T10:00:00Z");
  await fireAll(deps);
  expect(await slots()).toEqual(["01-01T09:00", "01-01T10:00", "01-01T00:00"]);
  expect((await slots("all")).filter((slot) => slot === "01-01T10:00")).toHaveLength(1);
  // Fired a little early, by a clock less far ahead: no second job.
  await clock.set("2025-01-01T11:00:00Z");
  await fireAll(deps);
  await clock.set("2025-01-01T10:50:00Z");
  await bringBack(deps, firstSchedule, 10);
  expect(await next("report")).toEqual(new Date("2025-01-01T11:00Z"));
  const before = await slots();
  await clock.set("2025-01-01T11:00:10Z");
  await fireAll(deps);
  expect(await slots()).toEqual(before);
  expect(await next("report")).toEqual(new Date("2025-01-01T12:00Z"));
});

test("a slot makes its job when it is due, ready and signalled, and the schedule says so", async () => {
  await putSchedule(deps, tenant, define({ payload: { n: 1 } }));
  expect(await fireAll(deps)).toBe(0);
  expect(await readDueSummary(deps)).toMatchObject({ schedule_in_ms: 30 * 60_000 });
  await clock.set("2025-01-01T09:00:00Z");
  expect(await readDueSummary(deps)).toMatchObject({ schedule_in_ms: 0 });
  expect(await fireAll(deps)).toBe(1);
  expect(await fireAll(deps)).toBe(0);
  const [job] =
    await database.sql`SELECT id, type, queue, priority, status, max_attempts, payload FROM atlasqueue.jobs`;
  expect(job).toMatchObject({ ...define({ payload: { n: 1 } }).job, status: "queued" });
  expect((await deps.signal.look({ tenant, queue: "mail" })).length).toBe(1);
  expect(await slots()).toEqual(["01-01T09:00"]);
  expect(await findSchedule(deps, ref)).toMatchObject({
    last_slot_at: new Date("2025-01-01T09:00Z"),
    last_job_id: job?.["id"],
    next_at: new Date("2025-01-01T10:00Z"),
  });
  expect(recorded.named("schedule_fired")).toEqual([
    {
      event: "schedule_fired",
      tenant,
      schedule: "report",
      slot: "2025-01-01T09:00:00.000Z",
      late_ms: 0,
      job_id: job?.["id"],
    },
  ]);
});

test.each([
  ["none", []],
  ["one", ["01-02T08:00"]],
  ["all", Array.from({ length: 24 }, (_, at) => new Date(Date.UTC(2025, 0, 1, 9 + at)).toISOString().slice(5, 16))],
] as const)("after a day of downtime %s makes the jobs it promises", async (catch_up, expected) => {
  await putSchedule(deps, tenant, define({ catch_up }));
  await clock.set("2025-01-02T08:29:00Z");
  await fireAll(deps);
  expect(await slots()).toEqual(expected);
  expect(await findSchedule(deps, ref)).toMatchObject({ next_at: new Date("2025-01-02T09:00Z") });
  expect(recorded.named("schedule_slots_missed")).toHaveLength(catch_up === "all" ? 0 : 1);
});

test("twenty firing at once make one job for each of 300 slots", async () => {
  const names = ["a", "b", "c"];
  for (const name of names) await putSchedule(deps, tenant, define({ name, cron: "* * * * *", catch_up: "all" }));
  await clock.set("2025-01-01T10:10:00Z");
  await Promise.all(Array.from({ length: 20 }, () => fireAll(deps)));
  await fireAll(deps);
  for (const name of names) expect(await slots(name)).toHaveLength(100);
  const [count] = await database.sql`SELECT count(*)::int AS jobs FROM atlasqueue.jobs`;
  expect(count).toEqual({ jobs: 300 });
  const [kept] = await database.sql`SELECT sum(queued)::int AS queued FROM atlasqueue.queue_changes`;
  expect(kept).toEqual({ queued: 300 });
});

test("one sweep fires more slots than one transaction takes", async () => {
  await putSchedule(deps, tenant, define({ cron: "* * * * *", catch_up: "all" }));
  await clock.set("2025-01-01T18:30:00Z");
  await fireAll(deps);
  expect(await slots()).toHaveLength(600);
});

test("a paused schedule fires nothing; resumed it goes on with the next slot and catches nothing up", async () => {
  await putSchedule(deps, tenant, define({ catch_up: "all" }));
  expect(await pauseSchedule(deps, ref)).toMatchObject({ paused_at: new Date("2025-01-01T08:30Z") });
  await clock.set("2025-01-01T12:10:00Z");
  expect(await readDueSummary(deps)).toMatchObject({ schedule_in_ms: null });
  expect(await fireAll(deps)).toBe(0);
  expect(await pauseSchedule(deps, ref)).toMatchObject({ paused_at: new Date("2025-01-01T08:30Z") });
  expect(await resumeSchedule(deps, ref)).toMatchObject({ paused_at: null, next_at: new Date("2025-01-01T13:00Z") });
  await clock.set("2025-01-01T13:00:01Z");
  await resumeSchedule(deps, ref);
  await fireAll(deps);
  expect(await slots()).toEqual(["01-01T13:00"]);
  expect(recorded.named("schedule_changed").map((event) => "change" in event && event.change)).toEqual([
    "created",
    "paused",
    "resumed",
  ]);
});

test("put again with the same cron it keeps its position; with another it goes on from now", async () => {
  await putSchedule(deps, tenant, define({ catch_up: "all" }));
  await clock.set("2025-01-01T11:10:00Z");
  await putSchedule(deps, tenant, define({ catch_up: "all", payload: { n: 2 } }));
  await fireAll(deps);
  expect(await slots()).toEqual(["01-01T09:00", "01-01T10:00", "01-01T11:00"]);
  const payloads = await database.sql`SELECT DISTINCT payload::text FROM atlasqueue.jobs`;
  expect(payloads).toEqual([{ payload: '{"n":2}' }]);
  await clock.set("2025-01-01T13:10:00Z");
  const changed = await putSchedule(deps, tenant, define({ catch_up: "all", cron: "30 * * * *" }));
  expect(changed).toMatchObject({ kind: "replaced", schedule: { next_at: new Date("2025-01-01T13:30Z") } });
});

test("a deleted schedule fires no more, and its jobs stay", async () => {
  await putSchedule(deps, tenant, define());
  await clock.set("2025-01-01T09:00:00Z");
  await fireAll(deps);
  expect(await deleteSchedule(deps, ref)).toBe(true);
  expect(await deleteSchedule(deps, ref)).toBe(false);
  await clock.set("2025-01-01T10:00:00Z");
  expect(await fireAll(deps)).toBe(0);
  expect(await slots()).toEqual(["01-01T09:00"]);
});

test("a clock set back fires no slot again", async () => {
  await putSchedule(deps, tenant, define());
  await clock.set("2025-01-01T09:00:00Z");
  await fireAll(deps);
  await clock.set("2025-01-01T08:50:00Z");
  await putSchedule(deps, tenant, define({ cron: "0 9-23 * * *" }));
  await clock.set("2025-01-01T09:00:00Z");
  expect(await fireAll(deps)).toBe(1);
  expect(await slots()).toEqual(["01-01T09:00"]);
  expect(recorded.named("schedule_fired")).toHaveLength(1);
});

test("a schedule broken by hand is reported, and stops none of its neighbours", async () => {
  for (const name of ["broken", "report", "unreadable"]) await putSchedule(deps, tenant, define({ name }));
  await database.sql`UPDATE atlasqueue.schedules SET cron = 'x' WHERE name = 'broken'`;
  await database.sql`UPDATE atlasqueue.schedules SET job = '{"type": 5}' WHERE name = 'unreadable'`;
  await clock.set("2025-01-01T09:00:00Z");
  expect(await fireAll(deps)).toBe(1);
  expect(await slots()).toEqual(["01-01T09:00"]);
  expect(recorded.named("schedule_failed").map((event) => "schedule" in event && event.schedule)).toEqual(
    expect.arrayContaining(["broken", "unreadable"]),
  );
});

test("tenants may have schedules of the same name, and each has its own limit", async () => {
  await putSchedule(deps, tenant, define());
  expect(await putSchedule(deps, "acme", define())).toMatchObject({ kind: "created" });
  expect(await putSchedule(deps, "acme", define(), undefined, false)).toEqual({ kind: "exists" });
  await clock.set("2025-01-01T09:00:00Z");
  expect(await fireAll(deps)).toBe(2);
  expect(await database.sql`SELECT tenant FROM atlasqueue.jobs ORDER BY tenant`).toEqual([
    { tenant: "acme" },
    { tenant },
  ]);
  expect(limits.schedules_max).toBe(1_000);
});

test("slots whose jobs ask for a group take no more round trips the more there are: far from the server, none would ever fire", async () => {
  const minutely = define({ cron: "* * * * *", catch_up: "all" });
  for (const name of ["report", "other"])
    await putSchedule(deps, tenant, { ...minutely, name, job: { ...minutely.job, group: "one" } });
  await clock.set("2025-01-01T10:00:30Z");
  const sent: string[] = [];
  const stepping = steppingDatabase(database, (step, _number, text) => {
    if (step === "statement") sent.push(text);
  });
  expect(await fireAll({ ...deps, database: stepping })).toBe(2);
  expect(sent.length).toBeLessThan(12);
  const seen = await database.sql`
    SELECT count(*)::int AS rows, count(DISTINCT outbox.payload ->> 'idempotency_key')::int AS keys, min(lane) AS lane,
           min(outbox.payload ->> 'key_ttl_seconds') AS ttl, count(*) FILTER (WHERE status = 'blocked' AND group_seq = 0)::int AS blocked
    FROM atlasqueue.outbox JOIN atlasqueue.jobs ON jobs.id = outbox.key::uuid`;
  expect(seen).toEqual([{ rows: 180, keys: 180, lane: "group mail\none", ttl: "86400", blocked: 180 }]);
});
