// @module-tag nightly
import type { Schedule } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { eventually, forFile, simulateClock } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
const clock = forFile(() => simulateClock(system.servers.postgres.url, "2025-01-01T00:00:00Z"));

/** Without Redis there are no turns: every worker sees each slot become due, and they race for it. */
const alone = { REDIS_URL: "redis://127.0.0.1:1" };
const put = (api: Api, name: string, body: object) =>
  fetch(`${api.url}/v1/schedules/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ job: { type: "noop", payload: { of: name } }, ...body }),
  });

/** The slots that were fired, in UTC, repeated for each extra job. */
const slotsOf = async (name: string) => {
  const rows = await system.sql<{ key: string }[]>`
    SELECT key FROM atlasqueue.jobs LEFT JOIN atlasqueue.idempotency_keys ON job_id = id WHERE payload->>'of' = ${name} ORDER BY key`;
  return rows.map(({ key }) => key.slice(`schedule:${name}:2025-`.length, -8));
};

/** Moves the clock from one time to another; at each step, waits until everything due is fired. */
async function walk(from: string, to: string, step_minutes: number): Promise<void> {
  const end = Date.parse(to);
  for (let at = Date.parse(from); at <= end; at += step_minutes * 60_000) {
    await clock.set(new Date(at));
    await eventually(async () => {
      const due =
        await system.sql`SELECT name FROM atlasqueue.schedules WHERE next_at <= ${new Date(at).toISOString()}`;
      expect(due).toEqual([]);
    });
  }
}

const night = { timezone: "America/New_York", catch_up: "none" };
/** 2 November 2025 in New York: 02:00 EDT (06:00 UTC) is 01:00 EST once more. */
const autumn = {
  "fixed-1:30": [{ ...night, cron: "30 1 * * *" }, ["11-02T05:30"]],
  "list-1-and-2": [{ ...night, cron: "0,30 1-2 * * *" }, ["11-02T05:00", "11-02T05:30", "11-02T07:00", "11-02T07:30"]],
  "every-half-hour": [
    { ...night, cron: "*/30 * * * *" },
    ["11-02T05:00", "11-02T05:30", "11-02T06:00", "11-02T06:30", "11-02T07:00", "11-02T07:30"],
  ],
  "in-utc": [{ timezone: "UTC", catch_up: "none", cron: "30 6 * * *" }, ["11-02T06:30"]],
} as const;
test("over the night in which the clocks go back, 3 API and 3 worker processes fire exactly the right slots", async () => {
  await clock.set("2025-11-02T04:45:00Z");
  const apis = await Promise.all([1, 2, 3].map(() => system.startApi({ LOG_LEVEL: "warn" })));
  const workers = await Promise.all([1, 2, 3].map(() => system.startWorker(alone)));
  const names = Object.entries(autumn);
  for (const [name, [body]] of names) await Promise.all(apis.map((api) => put(api, name, body)));
  await walk("2025-11-02T04:45:00Z", "2025-11-02T07:45:00Z", 15);
  for (const [name, [, slots]] of names) expect([name, await slotsOf(name)]).toEqual([name, slots]);
  await eventually(async () => {
    const open = await system.sql`SELECT id FROM atlasqueue.jobs WHERE status <> 'succeeded'`;
    expect(open).toEqual([]);
  });
  const shown = await Promise.all(
    apis.map(async (api) => (await (await fetch(`${api.url}/v1/schedules/${names[0]?.[0]}`)).json()) as Schedule),
  );
  for (const one of shown) expect(one.next_runs).toHaveLength(5);
  expect(new Set(shown.map((one) => JSON.stringify(one.next_runs))).size).toBe(1);
  await Promise.all(workers.map((worker) => worker.stop()));
  await system.sql`DELETE FROM atlasqueue.schedules`;
}, 120_000);

test("3 workers that come back after the night catch up as each schedule says, each slot once", async () => {
  await clock.set("2025-10-25T22:15:00Z");
  const api = await system.startApi({ LOG_LEVEL: "warn" });
  const berlin = { timezone: "Europe/Berlin", cron: "*/30 * * * *" };
  for (const catch_up of ["none", "one", "all"]) await put(api, `after-${catch_up}`, { ...berlin, catch_up });
  // 03:00 CEST (01:00 UTC) is 02:00 CET once more; the workers start at 03:10 CET.
  await clock.set("2025-10-26T02:10:00Z");
  await Promise.all([1, 2, 3].map(() => system.startWorker(alone)));
  await walk("2025-10-26T02:10:00Z", "2025-10-26T02:10:00Z", 1);
  expect(await slotsOf("after-none")).toEqual([]);
  expect(await slotsOf("after-one")).toEqual(["10-26T02:00"]);
  expect(await slotsOf("after-all")).toEqual([
    "10-25T22:30",
    "10-25T23:00",
    "10-25T23:30",
    ...["00:00", "00:30", "01:00", "01:30", "02:00"].map((time) => `10-26T${time}`),
  ]);
});
