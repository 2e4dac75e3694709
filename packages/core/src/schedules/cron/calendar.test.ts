import { Cron } from "croner";
import { expect, test } from "vitest";
import { randomFrom } from "../../../test/random-from.ts";
import { calendarOf } from "./calendar.ts";

const minutes = ["0", "59", "*", "*/7", "5-10", "3,33"];
const hours = ["0", "23", "*", "*/5", "9-17/2", "1,13"];
const dates = ["*", "1", "29", "31", "L", "LW", "1W", "15W", "31W", "30W,5", "L,13", "*/9", "28-31"];
const months = ["*", "2", "4,6", "*/5", "12", "1-3"];
const weekdays = ["*", "0", "7", "MON", "5L", "FRI#1", "MON#5", "SUN#5,SAT#2", "1-5", "*/3", "+TUE", "+SUN#5", "+4L"];

test("it has the times that the library finds, in both directions", () => {
  const random = randomFrom(7);
  const oneOf = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "*";
  let compared = 0;
  for (let n = 0; n < 300; n += 1) {
    const cron = [minutes, hours, dates, months, weekdays].map(oneOf).join(" ");
    const wall = new Date(Date.UTC(1950, 0, 1) + Math.floor(random() * 200 * 365 * 1_440) * 60_000);
    const library = new Cron(cron, { utcOffset: 0, mode: "5-part", paused: true });
    const calendar = calendarOf(cron);
    // Every other time is not a whole minute.
    const from = wall.getTime() + (n % 2) * 25_400;
    const next = library.nextRun(new Date(from))?.getTime();
    expect(calendar.after(from), `${cron} after ${wall.toISOString()}`).toBe(next);
    expect(calendar.upTo(from), `${cron} up to ${wall.toISOString()}`).toBe(
      library.previousRuns(1, new Date((Math.floor(from / 1_000) + 1) * 1_000))[0]?.getTime(),
    );
    if (next !== undefined) compared += 1;
  }
  expect(compared).toBeGreaterThan(250);
});

test.each(["0 0 30 2 *", "0 0 31 4,6 *", "0 0 30W 2 *", "0 0 31 4 +MON"])("%s fits no date", (cron) => {
  expect(calendarOf(cron).after(0)).toBeUndefined();
  expect(calendarOf(cron).upTo(0)).toBeUndefined();
});
