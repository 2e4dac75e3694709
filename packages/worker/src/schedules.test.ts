import { connectDatabase, createLogger, createQueue, memorySignal, type Database } from "@atlasqueue/core";
import {
  eventually,
  recordEvents,
  simulateClock,
  testDatabase,
  type SimulatedClock,
  type TestDatabase,
} from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineHandler } from "./handler.ts";
import { startWorker } from "./start-worker.ts";

let own: TestDatabase;
let clock: SimulatedClock;
let database: Database;
beforeAll(async () => {
  own = await testDatabase();
  clock = await simulateClock(own.url, "2026-11-20T08:00:00Z");
  database = connectDatabase({ url: own.url, connections_max: 5, timeout_ms: 15_000 });
});
afterAll(async () => {
  await Promise.all([database.close(), clock.stop()]);
  await own.drop();
});

function work(handler: () => void) {
  const recorded = recordEvents();
  const deps = { database, observe: recorded.observe, signal: memorySignal(), logger: createLogger("silent", "test") };
  const worker = startWorker(deps, { handlers: [defineHandler("tick", z.looseObject({}), async () => handler())] });
  onTestFinished(() => worker.stop({ deadline_ms: 0 }));
  return recorded;
}

test("a schedule made in code runs its job at each slot, within a fraction of the time between two sweeps", async () => {
  const queue = createQueue({ databaseUrl: own.url });
  onTestFinished(() => queue.close());
  await queue.schedules.put({ name: "hourly", cron: "0 * * * *", job: { type: "tick" } });
  let runs = 0;
  const recorded = work(() => (runs += 1));
  const late_ms: number[] = [];
  for (const hour of ["08", "09", "10"]) {
    await clock.letRun(`2026-11-20T${hour}:59:57.500Z`);
    const [fired] = await eventually(() => {
      const events = recorded.named("schedule_fired").slice(late_ms.length);
      return events.length > 0 && events;
    });
    late_ms.push(fired && "late_ms" in fired ? fired.late_ms : Infinity);
  }
  await eventually(() => expect(runs).toBe(3));
  // The median, as a busy machine is late now and then.
  expect(late_ms.toSorted((a, b) => a - b)[1]).toBeLessThan(250);
  expect(await queue.schedules.get("hourly")).toMatchObject({
    timezone: "UTC",
    last_run: "2026-11-20T11:00:00.000Z",
    next_runs: [
      "2026-11-20T12:00:00.000Z",
      expect.any(String),
      expect.any(String),
      expect.any(String),
      expect.any(String),
    ],
  });
});

test("code puts, pauses, resumes, lists and deletes schedules, and learns what is wrong with one", async () => {
  const queue = createQueue({ databaseUrl: own.url, tenant: "acme" });
  onTestFinished(() => queue.close());
  const { schedules } = queue;
  await expect(schedules.put({ name: "a", cron: "0 0 30 2 *", job: { type: "tick" } })).rejects.toThrow(
    "/cron must be",
  );
  await expect(schedules.put({ name: "a b", cron: "* * * * *", job: { type: "" } })).rejects.toThrow(
    /\/name .*\/job\/type /,
  );
  for (const name of ["b", "a"]) await schedules.put({ name, cron: "0 0 * * *", job: { type: "tick" } });
  expect((await schedules.list()).map((one) => one.name)).toEqual(["a", "b"]);
  expect(await schedules.pause("a")).toMatchObject({ paused: true, next_runs: [] });
  expect(await schedules.resume("a")).toMatchObject({ paused: false });
  expect(await schedules.delete("a")).toBe(true);
  expect([await schedules.get("a"), await schedules.pause("a"), await schedules.delete("a")]).toEqual([
    undefined,
    undefined,
    false,
  ]);
});

test("while a schedule cannot be fired, the sweep goes on once a second, no faster", async () => {
  const queue = createQueue({ databaseUrl: own.url });
  onTestFinished(() => queue.close());
  await clock.set("2026-11-21T08:30:00Z");
  await queue.schedules.put({ name: "broken", cron: "0 * * * *", job: { type: "tick" } });
  await database.sql`UPDATE schedules SET cron = 'x' WHERE name = 'broken'`;
  await clock.set("2026-11-21T09:00:00Z");
  const recorded = work(() => {});
  await eventually(() => expect(recorded.named("schedule_failed").length).toBeGreaterThanOrEqual(2));
  expect(recorded.named("sweep_complete").length).toBeLessThanOrEqual(4);
});
