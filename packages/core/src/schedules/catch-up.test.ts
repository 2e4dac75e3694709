import { expect, test } from "vitest";
import { catchUp, caught_up_max } from "./catch-up.ts";
import { readCron } from "./cron/cron.ts";

const hourly = readCron("0 * * * *", "UTC");
const at = (time: string) => new Date(`2026-11-20T${time}Z`);
const times = (slots: Date[]) => slots.map((slot) => slot.toISOString().slice(11, 16));

test.each(["none", "one", "all"] as const)("%s fires a slot on time, and waits for the next", (kind) => {
  for (const now of [at("09:00:00.000"), at("09:00:00.250"), at("09:00:59.000")])
    expect(catchUp(kind, hourly, at("09:00"), now, 100)).toEqual({
      fire: [at("09:00")],
      next_at: at("10:00"),
      missed_from: null,
    });
});

test("none gives up slots more than a minute late", () => {
  const late = catchUp("none", hourly, at("09:00"), at("09:01"), 100);
  expect(late).toEqual({ fire: [], next_at: at("10:00"), missed_from: at("09:00") });
  const after = catchUp("none", hourly, at("09:00"), at("12:00:30"), 100);
  expect(after).toEqual({ fire: [at("12:00")], next_at: at("13:00"), missed_from: at("09:00") });
});

test("one fires the latest, however late", () => {
  const late = catchUp("one", hourly, at("09:00"), at("12:59"), 100);
  expect(late).toEqual({ fire: [at("12:00")], next_at: at("13:00"), missed_from: at("09:00") });
  expect(catchUp("one", hourly, at("12:00"), at("12:59"), 100)).toMatchObject({
    fire: [at("12:00")],
    missed_from: null,
  });
});

test("all fires each slot, oldest first, as many at once as there is room for", () => {
  const first = catchUp("all", hourly, at("09:00"), at("12:59"), 3);
  expect(times(first.fire)).toEqual(["09:00", "10:00", "11:00"]);
  expect(first).toMatchObject({ next_at: at("12:00"), missed_from: null });
  const second = catchUp("all", hourly, first.next_at as Date, at("12:59"), 3);
  expect(second).toEqual({ fire: [at("12:00")], next_at: at("13:00"), missed_from: null });
});

test("all gives up slots before the last thousand, however often it is called", () => {
  const now = new Date("2026-11-20T12:00:30Z");
  let next_at = new Date("2026-01-01T00:00Z");
  const fired: Date[] = [];
  const missed: (Date | null)[] = [];
  const minutely = readCron("* * * * *", "UTC");
  while (next_at <= now) {
    const firing = catchUp("all", minutely, next_at, now, 100);
    fired.push(...firing.fire);
    missed.push(firing.missed_from);
    next_at = firing.next_at as Date;
  }
  expect(fired).toEqual(minutely.upTo(now, caught_up_max));
  expect(missed).toEqual([new Date("2026-01-01T00:00Z"), ...Array.from({ length: 9 }, () => null)]);
});

test("a schedule with no slots left waits for nothing", () => {
  const ended = { after: () => [], upTo: () => [at("09:00")] };
  expect(catchUp("one", ended, at("09:00"), at("09:00"), 1)).toEqual({
    fire: [at("09:00")],
    next_at: null,
    missed_from: null,
  });
});
