// @module-tag nightly
import { afterAll, expect, test } from "vitest";
import { readCron } from "./cron.ts";

// Every change of every zone's clocks from 1970 to 2100, against a model that shares nothing with the code: a cron
// daemon that wakes every minute, looks at the clock on the wall, and does what Vixie cron does.

const minute_ms = 60_000;
const hour_ms = 60 * minute_ms;
const day_ms = 24 * hour_ms;

type Zone = { name: string; wall(instant: number): number };
/** Clocks go from `before` to `after` at `at`. */
type Change = { zone: Zone; at: number; before: number; after: number };

/** The runtime's own local time, which the code does not use and which is fast to read. Valid until the next call. */
function zoneOf(name: string): Zone {
  process.env["TZ"] = name;
  return {
    name,
    wall(instant) {
      const shown = new Date(instant);
      const minute = Date.UTC(
        shown.getFullYear(),
        shown.getMonth(),
        shown.getDate(),
        shown.getHours(),
        shown.getMinutes(),
      );
      return minute + shown.getSeconds() * 1_000;
    },
  };
}

/**
 * One of each kind: clocks changed by the same amount at the same time of day on the same weekday need only one look.
 */
function changesOf(zone: Zone, kinds: Set<string>): Change[] {
  const found: Change[] = [];
  const offset = (instant: number) => zone.wall(instant) - instant;
  const until = Date.UTC(2100, 0, 1);
  const step_ms = 8 * day_ms;
  let old = offset(0);
  for (let at = 0; at < until; at += step_ms) {
    const now = offset(at + step_ms);
    if (now === old) continue;
    let [low, high] = [at, at + step_ms];
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000;
      if (offset(middle) === old) low = middle;
      else high = middle;
    }
    const change = { zone, at: high, before: high + old, after: zone.wall(high) };
    const kind = `${old} ${now} ${change.before % day_ms}`;
    old = offset(at + step_ms);
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    found.push(change);
  }
  return found;
}

type Fields = { minutes: number[]; hours: number[]; date?: [day: number, month: number]; weekday?: number };
type Line = Fields & { cron: string; wild: boolean };

const every = (count: number, step = 1) => Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);

/** Cron lines whose times lie in what is skipped or repeated, at its edges and beside it. */
function linesAround({ before, after }: Change): Line[] {
  const low = Math.min(before, after);
  const middle = low + Math.floor(Math.abs(after - before) / 2 / minute_ms) * minute_ms;
  const lines: Line[] = [];
  for (const wall of [
    low - 30 * minute_ms,
    low,
    middle,
    Math.max(before, after) - minute_ms,
    Math.max(before, after),
  ]) {
    const shown = new Date(wall);
    const [m, h, d, mo, w] = [
      shown.getUTCMinutes(),
      shown.getUTCHours(),
      shown.getUTCDate(),
      shown.getUTCMonth() + 1,
      shown.getUTCDay(),
    ];
    const at = { minutes: [m], hours: [h] };
    lines.push(
      { cron: `${m} ${h} ${d} ${mo} *`, wild: false, ...at, date: [d, mo] },
      { cron: `${m} ${h} * * ${w}`, wild: false, ...at, weekday: w },
      { cron: `*/20 ${h} * * *`, wild: true, minutes: every(60, 20), hours: [h] },
      { cron: `${m} * ${d} ${mo} *`, wild: true, minutes: [m], hours: every(24), date: [d, mo] },
    );
  }
  lines.push(
    { cron: "0,45 0-23 * * *", wild: false, minutes: [0, 45], hours: every(24) },
    { cron: "*/15 * * * *", wild: true, minutes: every(60, 15), hours: every(24) },
  );
  return lines;
}

function fits({ minutes, hours, date, weekday }: Fields, wall: number): boolean {
  const shown = new Date(wall);
  return (
    shown.getUTCSeconds() === 0 &&
    minutes.includes(shown.getUTCMinutes()) &&
    hours.includes(shown.getUTCHours()) &&
    (!date || (date[0] === shown.getUTCDate() && date[1] === shown.getUTCMonth() + 1)) &&
    (weekday === undefined || weekday === shown.getUTCDay())
  );
}

/** What the daemon sees from one instant to another: the clock at each of its wakings. */
type Waking = { instant: number; wall: number };

function wakings({ zone, at }: Change, from: number, to: number): Waking[] {
  // Clocks that differ from UTC's by odd seconds show a full minute at odd seconds.
  const step = [zone.wall(at), zone.wall(at - 1_000)].every(
    (wall) => wall % minute_ms === at % minute_ms || wall % minute_ms === (at - 1_000) % minute_ms,
  )
    ? minute_ms
    : 1_000;
  const seen: Waking[] = [];
  for (let instant = from; instant <= to; instant += step) seen.push({ instant, wall: zone.wall(instant) });
  return seen;
}

function reckon(line: Line, seen: readonly Waking[]): number[] {
  const fired: number[] = [];
  let [past] = seen;
  let latest = past?.wall ?? 0;
  for (const now of seen.slice(1)) {
    const step = now.instant - (past?.instant ?? 0);
    const jump = now.wall - (past?.wall ?? 0) - step;
    const shown = fits(line, now.wall) && (line.wild || now.wall > latest);
    let made_up = false;
    if (!line.wild && jump > 0 && jump < day_ms)
      for (let wall = (past?.wall ?? 0) + step; wall < now.wall; wall += step) made_up ||= fits(line, wall);
    if (shown || made_up) fired.push(now.instant);
    latest = Math.max(latest, now.wall);
    past = now;
  }
  return fired;
}

const own_zone = process.env["TZ"];
afterAll(() => {
  if (own_zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = own_zone;
});

test("around every change of every zone's clocks from 1970 to 2100, slots are those of a daemon that watches the clock", () => {
  const kinds = new Set<string>();
  const wrong: string[] = [];
  for (const name of Intl.supportedValuesOf("timeZone"))
    for (const change of changesOf(zoneOf(name), kinds)) wrong.push(...wrongSlots(change));
  expect(wrong).toEqual([]);
  expect(kinds.size).toBeGreaterThan(200);
}, 300_000);

function wrongSlots(change: Change): string[] {
  const { zone, at, before, after } = change;
  const around = Math.min(Math.abs(after - before), 3 * hour_ms) + hour_ms;
  const [from, to] = [at - around, at + around];
  const seen = wakings(change, from, to);
  const told = (slots: number[]) => slots.map((slot) => new Date(slot).toISOString()).join(" ");
  return linesAround(change).flatMap((line) => {
    const expected = reckon(line, seen);
    const slots = readCron(line.cron, zone.name);
    const count = expected.length + 1;
    const forward = slots.after(new Date(from), count).map((slot) => slot.getTime());
    const backward = slots.upTo(new Date(to), count).map((slot) => slot.getTime());
    const ways = { forward: forward.filter((slot) => slot <= to), backward: backward.filter((slot) => slot > from) };
    return Object.entries(ways).flatMap(([way, found]) =>
      told(found) === told(expected)
        ? []
        : [`${line.cron} in ${zone.name}, ${way}: [${told(found)}], not [${told(expected)}]`],
    );
  });
}
