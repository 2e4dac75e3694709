import { connectDatabase } from "../database/connect.ts";
import type { Deps } from "../deps.ts";
import { forFile, recordEvents, simulateClock, testDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { memorySignal } from "../signal/memory/signal.ts";
import type { Signal } from "../signal/signal.ts";
import { fireAll } from "./fire-due.ts";
import { putSchedule } from "./store.ts";

// Schedules of some tenants have much to catch up with.

const tenant = "modest";
const own = forFile(testDatabase);
const clock = forFile(() => simulateClock(own.url, "2025-01-01T00:00:00Z"));
const database = forFile(async () => connectDatabase({ url: own.url, connectionsMax: 10, timeoutMs: 15_000 }));
let deps: Deps & { signal: Signal };
beforeEach(async () => {
  await database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.idempotency_keys, atlasqueue.outbox, atlasqueue.schedules, atlasqueue.queue_changes`;
  deps = { database, observe: recordEvents().observe, signal: memorySignal() };
  await clock.set("2025-01-01T08:30:00Z");
});

const every = (name: string, cron: string) => ({
  name,
  cron,
  timezone: "UTC",
  catch_up: "all" as const,
  job: { type: "report.send", payload: {}, queue: "mail", priority: 0, max_attempts: 2 },
});
const minutely = (of: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => putSchedule(deps, of, every(`every ${at}`, "* * * * *"))));
const jobsOf = async (of: string) => {
  const [row] = await database.sql<
    { jobs: number }[]
  >`SELECT count(*)::int AS jobs FROM atlasqueue.jobs WHERE tenant = ${of}`;
  return row?.jobs ?? 0;
};

test("some tenants whose first schedules fill what is made at once hold up no other's", async () => {
  for (let at = 0; at < 20; at += 1) await minutely(`greedy ${at}`, 10);
  await clock.set("2025-01-01T11:30:00Z");
  await putSchedule(deps, tenant, every("report", "0 * * * *"));
  await clock.set("2025-01-01T12:00:30Z");
  await fireAll(deps);
  expect(await jobsOf(tenant)).toBe(1);
});

test("a hundred tenants that have more to catch up with than one sweep makes do not hold up another for long", async () => {
  for (let at = 0; at < 120; at += 1) await minutely(`greedy ${at}`, 1);
  await clock.set("2025-01-04T08:30:00Z");
  await putSchedule(deps, tenant, every("report", "0 * * * *"));
  await clock.set("2025-01-04T09:00:30Z");
  // Most often it has its turn in the first; it has none in eight of them once in a million runs.
  for (let sweeps = 0; sweeps < 8 && (await jobsOf(tenant)) === 0; sweeps += 1) await fireAll(deps);
  expect(await jobsOf(tenant)).toBe(1);
});
