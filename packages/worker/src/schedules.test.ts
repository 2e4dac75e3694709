import { connectDatabase, createLogger, createQueue, memorySignal, type AtlasEvent } from "@atlasqueue/core";
import { eventually, forFile, inTime, recordEvents, simulateClock, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineHandler } from "./handler.ts";
import { startWorker } from "./start-worker.ts";

const own = forFile(testDatabase);
const clock = forFile(() => simulateClock(own.url, "2026-11-20T08:00:00Z"));
const database = forFile(async () => connectDatabase({ url: own.url, connectionsMax: 5, timeoutMs: 15_000 }));

function work(handler: () => void) {
  const recorded = recordEvents();
  /** When each event was told, in their order. */
  const at: number[] = [];
  const observe = (event: AtlasEvent) => {
    at.push(performance.now());
    recorded.observe(event);
  };
  const deps = { database, observe, signal: memorySignal(), logger: createLogger("silent", "test") };
  const worker = startWorker(deps, { handlers: [defineHandler("tick", z.looseObject({}), async () => handler())] });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  return { ...recorded, at };
}

test("a schedule made in code runs its job at each slot, within a fraction of the time between two sweeps", async () => {
  const queue = createQueue({ databaseUrl: own.url });
  onTestFinished(() => queue.close());
  await queue.schedules.put({ name: "hourly", cron: "0 * * * *", job: { type: "tick" } });
  let runs = 0;
  const recorded = work(() => (runs += 1));
  const next = new Date("2026-11-20T09:00:00Z");
  let slots = 0;
  // Sweeps come a second and a fifth apart; one that comes sooner after the one before it was woken by the slot.
  await inTime(1_000, async () => {
    // The sweep that fired the last one was just now: the next comes before the slot, and the one after it later.
    await clock.letRun(new Date(next.getTime() - 1_900));
    slots += 1;
    await eventually(() => expect(recorded.named("schedule_fired")).toHaveLength(slots));
    next.setUTCHours(next.getUTCHours() + 1);
    const fired = recorded.events.findLastIndex(({ event }) => event === "schedule_fired");
    const sweep = recorded.events.slice(0, fired).findLastIndex(({ event }) => event === "sweep_complete");
    return (recorded.at[fired] ?? Infinity) - (recorded.at[sweep] ?? -Infinity);
  });
  await eventually(() => expect(runs).toBe(slots));
  expect(await queue.schedules.get("hourly")).toMatchObject({
    timezone: "UTC",
    last_run: new Date(next.getTime() - 3_600_000).toISOString(),
    next_runs: [next.toISOString(), expect.any(String), expect.any(String), expect.any(String), expect.any(String)],
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
  await database.sql`UPDATE atlasqueue.schedules SET cron = 'x' WHERE name = 'broken'`;
  await clock.set("2026-11-21T09:00:00Z");
  const recorded = work(() => {});
  await eventually(() => expect(recorded.named("schedule_failed").length).toBeGreaterThanOrEqual(2));
  expect(recorded.named("sweep_complete").length).toBeLessThanOrEqual(4);
});
