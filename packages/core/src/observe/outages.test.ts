import { beforeEach, expect, test } from "vitest";
import type { AtlasEvent, Observe } from "./events.ts";
import { createLogger, logEvents } from "./log.ts";
import type { Clock } from "./outages.ts";

/** Far more than a test needs: a clock that is asked to wake someone without end would otherwise hang. */
const wakes_max = 1_000;

/** Time that passes when the test says so. */
function handClock(): Clock & { pass(ms: number): void } {
  let now = 1_000;
  const timers: { at: number; call: () => void }[] = [];
  const next = (until: number) => timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after: (delay_ms, call) => void timers.push({ at: now + delay_ms, call }),
    pass(ms) {
      const until = now + ms;
      let wakes = 0;
      for (let timer = next(until); timer; timer = next(until)) {
        timers.splice(timers.indexOf(timer), 1);
        now = timer.at;
        if ((wakes += 1) > wakes_max) throw new Error(`more than ${wakes_max} timers ran within ${ms} ms`);
        timer.call();
      }
      now = until;
    },
  };
}

let lines: Record<string, unknown>[];
let clock: ReturnType<typeof handClock>;
let observe: Observe;
beforeEach(() => {
  lines = [];
  clock = handClock();
  const logger = createLogger("info", "test", { write: (line) => void lines.push(JSON.parse(line)) });
  observe = logEvents(logger, clock);
});
const failed = (during: string): AtlasEvent => ({ event: "signal_failed", during, error: "away" });

test("an outage is a line when it begins, one a minute with the count, and one when it is over", () => {
  for (let second = 0; second < 150; second += 1) {
    for (let call = 0; call < 500; call += 1) observe(failed(call % 5 === 0 ? "push" : "wait"));
    clock.pass(1_000);
  }
  clock.pass(60_000);
  expect(lines).toMatchObject([
    { level: "warn", event: "signal_failed", msg: "signal_failed", during: "push", error: "away" },
    { level: "warn", event: "signal_failed", outage: "goes_on", count: 30_000, error: "away" },
    { level: "warn", event: "signal_failed", outage: "goes_on", count: 60_000 },
    {
      level: "info",
      event: "signal_failed",
      outage: "is_over",
      count: 75_000,
      lasted_ms: 149_000,
      counts: { push: 15_000, wait: 60_000 },
    },
  ]);
  expect(lines[0]).not.toHaveProperty("outage");
});

test("the next outage begins with a line again, and each kind of failure has its own", () => {
  observe(failed("push"));
  observe({ event: "database_unavailable", during: "claim", error: "gone" });
  clock.pass(30_000);
  observe(failed("push"));
  expect(lines.map(({ event, outage }) => [event, outage])).toEqual([
    ["signal_failed", undefined],
    ["database_unavailable", undefined],
    ["signal_failed", "is_over"],
    ["database_unavailable", "is_over"],
    ["signal_failed", undefined],
  ]);
});

test("events that no outage repeats are reported each time", () => {
  for (let at = 0; at < 3; at += 1) observe({ event: "queue_paused", tenant: "default", queue: "mail" });
  clock.pass(120_000);
  expect(lines).toHaveLength(3);
});

test("made-up activities do not grow the line", () => {
  for (let at = 0; at < 1_000; at += 1) observe(failed(`activity ${at}`));
  clock.pass(20_000);
  expect(Object.keys(lines.at(-1)?.["counts"] as object)).toHaveLength(51);
});
