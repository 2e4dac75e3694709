import { describe, expect, test, vi } from "vitest";
import { cronFault, readCron } from "./cron.ts";

/** The slots from one instant to another; local times are in the zone, with its offset at the time. */
function slots(cron: string, timezone: string, from: string, to: string): string[] {
  const found: Date[] = [];
  const until = new Date(to);
  for (let at = new Date(from); ;) {
    const [next] = readCron(cron, timezone).after(at, 1);
    if (!next || next > until) return found.map((slot) => local(slot, timezone));
    found.push((at = next));
  }
}

function local(slot: Date, timezone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    hourCycle: "h23",
    timeZone: timezone,
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "longOffset",
  });
  const part = Object.fromEntries(format.formatToParts(slot).map(({ type, value }) => [type, value]));
  return `${part["day"]} ${part["hour"]}:${part["minute"]} ${(part["timeZoneName"] ?? "").replace(/^GMT$/, "GMT+00:00").slice(3)}`;
}

type Night = [cron: string, zone: string, from: string, to: string, slots: string[]];

/** The clock goes from 02:00 to 03:00 in Berlin, and so on: what is skipped, and what is fired after it. */
const gaps: Night[] = [
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z", ["29 03:00 +02:00", "30 02:30 +02:00"]],
  ["30 2 29 3 *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z", ["29 03:00 +02:00"]],
  ["0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T12:00Z", ["29 03:00 +02:00"]],
  [
    "0 1-4 * * *",
    "Europe/Berlin",
    "2026-03-28T22:00Z",
    "2026-03-29T04:00Z",
    ["29 01:00 +01:00", "29 03:00 +02:00", "29 04:00 +02:00"],
  ],
  [
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-03-29T00:15Z",
    "2026-03-29T01:45Z",
    ["29 01:30 +01:00", "29 03:00 +02:00", "29 03:30 +02:00"],
  ],
  ["0 */2 * * *", "Europe/Berlin", "2026-03-28T22:15Z", "2026-03-29T03:00Z", ["29 00:00 +01:00", "29 04:00 +02:00"]],
  ["*/15 2 * * *", "Europe/Berlin", "2026-03-28T22:15Z", "2026-03-30T00:10Z", ["30 02:00 +02:00"]],
  [
    "*/15 * * * *",
    "Australia/Lord_Howe",
    "2026-10-03T15:10Z",
    "2026-10-03T15:45Z",
    ["04 01:45 +10:30", "04 02:30 +11:00", "04 02:45 +11:00"],
  ],
  ["0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-05T12:00Z", ["04 01:00 -02:00", "05 00:00 -02:00"]],
  [
    "0 12 * * *",
    "Pacific/Apia",
    "2011-12-28T20:00Z",
    "2011-12-31T12:00Z",
    ["28 12:00 -10:00", "29 12:00 -10:00", "31 12:00 +14:00"],
  ],
  [
    "0 * * * *",
    "Pacific/Apia",
    "2011-12-30T08:30Z",
    "2011-12-30T11:00Z",
    ["29 23:00 -10:00", "31 00:00 +14:00", "31 01:00 +14:00"],
  ],
  ["30 2 * * *", "UTC", "2026-03-28T12:00Z", "2026-03-30T12:00Z", ["29 02:30 +00:00", "30 02:30 +00:00"]],
];

/** The clock goes from 03:00 back to 02:00 in Berlin, and so on: what fires once, and what twice. */
const overlaps: Night[] = [
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-26T12:00Z", ["25 02:30 +02:00", "26 02:30 +01:00"]],
  [
    "0 1-4 * * *",
    "Europe/Berlin",
    "2026-10-24T22:30Z",
    "2026-10-25T03:00Z",
    ["25 01:00 +02:00", "25 02:00 +02:00", "25 03:00 +01:00", "25 04:00 +01:00"],
  ],
  ["30 1 * * *", "America/New_York", "2026-10-31T12:00Z", "2026-11-02T12:00Z", ["01 01:30 -04:00", "02 01:30 -05:00"]],
  [
    "*/30 * * * *",
    "America/New_York",
    "2026-11-01T04:45Z",
    "2026-11-01T07:00Z",
    ["01 01:00 -04:00", "01 01:30 -04:00", "01 01:00 -05:00", "01 01:30 -05:00", "01 02:00 -05:00"],
  ],
  [
    "*/30 1 * * *",
    "America/New_York",
    "2026-11-01T04:45Z",
    "2026-11-01T12:00Z",
    ["01 01:00 -04:00", "01 01:30 -04:00", "01 01:00 -05:00", "01 01:30 -05:00"],
  ],
  [
    "*/15 * * * *",
    "Australia/Lord_Howe",
    "2026-04-04T14:40Z",
    "2026-04-04T15:30Z",
    ["05 01:45 +11:00", "05 01:30 +10:30", "05 01:45 +10:30", "05 02:00 +10:30"],
  ],
  ["30 1 * * *", "UTC", "2026-10-24T12:00Z", "2026-10-26T12:00Z", ["25 01:30 +00:00", "26 01:30 +00:00"]],
];

describe("where the clock skips an hour, fixed times fire after it, others when the clock next shows them", () => {
  test.each(gaps)("%s in %s", (cron, zone, from, to, expected) => {
    expect(slots(cron, zone, from, to)).toEqual(expected);
  });
});

describe("where the clock shows an hour twice, fixed times fire the first time, and others both times", () => {
  test.each(overlaps)("%s in %s", (cron, zone, from, to, expected) => {
    expect(slots(cron, zone, from, to)).toEqual(expected);
  });
});

test.each([...gaps, ...overlaps])("%s in %s, from %s: backwards it has the same slots", (cron, zone, from, to) => {
  const { after, upTo } = readCron(cron, zone);
  const end = new Date(to);
  const forward = after(new Date(from), 200).filter((slot) => slot <= end);
  expect(upTo(end, forward.length)).toEqual(forward);
  for (const slot of forward) {
    expect(upTo(slot, 1)).toEqual([slot]);
    expect(upTo(new Date(slot.getTime() + 400), 1)).toEqual([slot]);
    expect(after(new Date(slot.getTime() - 400), 1)).toEqual([slot]);
  }
});

test.each([
  [
    "when both days are given, either is enough",
    "0 0 13 * FRI",
    ["02 00:00", "09 00:00", "13 00:00", "16 00:00", "23 00:00"],
  ],
  ["a day of the week alone", "0 0 * * 0", ["04 00:00", "11 00:00", "18 00:00"]],
  ["Sunday is 0 and 7", "0 0 * * 7", ["04 00:00", "11 00:00", "18 00:00"]],
  ["the last day of the month", "0 0 L * *", ["31 00:00"]],
  ["the second Friday", "0 0 * * FRI#2", ["09 00:00"]],
])("%s", (_what, cron, expected) => {
  const found = slots(cron, "UTC", "2026-01-01T12:00Z", cron.includes("L") ? "2026-02-01T00:00Z" : "2026-01-23T12:00Z");
  expect(found.map((one) => one.slice(0, 8))).toEqual(expected);
});

test("29 February comes, if seldom", () => {
  expect(readCron("0 0 29 2 *", "UTC").after(new Date("2097-01-01T00:00Z"), 1)).toEqual([
    new Date("2104-02-29T00:00Z"),
  ]);
});

test("what comes five times in 141 years is found", () => {
  const found = readCron("0 0 * 2 MON#5", "America/New_York").after(new Date("2026-11-26T00:00Z"), 5);
  expect(found.at(-1)).toEqual(new Date("2168-02-29T05:00Z"));
});

test("schedules of one zone share its clocks, which take the runtime longer to make than their slots to find", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat");
  for (let minute = 0; minute < 50; minute += 1) readCron(`${minute} 3 * * *`, "Asia/Kathmandu");
  const count = made.mock.calls.length;
  made.mockRestore();
  expect(count).toBe(1);
});

test.each([
  "0 0 30 2 *",
  "0 0 31 4,6,9,11 *",
  "0 0 0 * * * *",
  "0 0 * * * *",
  "0 0 * *",
  "30-10 * * * *",
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "*/0 * * * *",
  "5/10 * * * *",
  "1,,2 * * * *",
  "a * * * *",
])("%s is refused with a reason", (cron) => {
  expect(cronFault({ cron, timezone: "UTC" })).toMatchObject({
    pointer: "/cron",
    message: expect.stringMatching(/^must be five fields of cron that some date fits; got ".+": [^:]+/),
  });
});
