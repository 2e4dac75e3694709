import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import type { SeenSchedule } from "./list.ts";
import { showSchedules } from "./show.ts";

afterEach(() => vi.restoreAllMocks());

const at = new Date("2026-11-26T12:00:00Z");
const schedule: SeenSchedule = {
  tenant: "default",
  name: "rare",
  cron: "0 0 * 2 MON#5",
  timezone: "America/New_York",
  catch_up: "one",
  job: { type: "report", payload: {}, queue: "default", priority: 0, max_attempts: 5 },
  next_at: at,
  paused_at: null,
  last_slot_at: null,
  last_job_id: null,
  traceparent: null,
  tracestate: null,
  created_at: at,
  updated_at: at,
  seen_at: at,
};

test("while the slots of a long page are reckoned, everybody else has turns", async () => {
  // A millisecond each time it is asked: whatever this machine takes.
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1));
  let turns = 0;
  let over = false;
  const others = (async () => {
    for (; !over; turns += 1) await nextTurn();
  })();
  const shown = await showSchedules(Array.from({ length: 200 }, () => schedule));
  const had = turns;
  over = true;
  await others;
  expect(shown.map(({ next_runs }) => next_runs.length)).toEqual(Array.from({ length: 200 }, () => 5));
  expect(had).toBeGreaterThan(30);
});
