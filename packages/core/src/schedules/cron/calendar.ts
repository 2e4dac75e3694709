import { CronPattern } from "croner";
import type { WallTime } from "./wall-clock.ts";

/** The times that five fields of cron name, as clocks show them in any zone: UTC's have neither gaps nor repetitions. */
export type Calendar = {
  /** The first after a time; undefined when there is none. */
  after(wall: WallTime): WallTime | undefined;
  /** The last up to and including a time. */
  upTo(wall: WallTime): WallTime | undefined;
};

const day_ms = 86_400_000;
/** The calendar repeats after 400 years: what fits no date of so many months fits none at all. */
const months_max = 400 * 12;

/**
 * The times of five fields of cron. The library reads them, and the days are looked up here: its own search asks for
 * each day which of the month's days before it have the same name, so that a rare one holds up the process for
 * milliseconds. Throws what the library throws for fields it cannot read.
 *
 * @example
 * calendarOf("0 0 29 2 *").after(Date.UTC(2026, 0, 1)); // 29 February 2028
 */
export function calendarOf(cron: string): Calendar {
  const pattern = new CronPattern(cron, undefined, { mode: "5-part" });
  const times = timesOf(pattern);

  /** The nearest fitting day on one side of a day. */
  const dayBeyond = (day: WallTime, side: 1 | -1): WallTime | undefined => {
    const from = new Date(day);
    const month_from = from.getUTCFullYear() * 12 + from.getUTCMonth();
    for (let away = 0; away <= months_max; away += 1) {
      const month = month_from + side * away;
      if (!pattern.month[month % 12]) continue;
      const days = daysOf(pattern, Math.floor(month / 12), month % 12);
      const found = side === 1 ? days.find((one) => one > day) : days.findLast((one) => one < day);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const isFitting = (day: WallTime): boolean => dayBeyond(day - day_ms, 1) === day;

  return {
    after(wall) {
      const today = dayAt(wall);
      const time = times.find((one) => today + one > wall);
      if (time !== undefined && isFitting(today)) return today + time;
      const day = dayBeyond(today, 1);
      return day === undefined ? undefined : day + (times[0] ?? 0);
    },
    upTo(wall) {
      const today = dayAt(wall);
      const time = times.findLast((one) => today + one <= wall);
      if (time !== undefined && isFitting(today)) return today + time;
      const day = dayBeyond(today, -1);
      return day === undefined ? undefined : day + (times.at(-1) ?? 0);
    },
  };
}

const dayAt = (wall: WallTime): WallTime => Math.floor(wall / day_ms) * day_ms;

/** The times of a day, from its beginning. */
function timesOf({ hour, minute }: CronPattern): number[] {
  const hours = hour.flatMap((fits, at) => (fits ? [at] : []));
  const minutes = minute.flatMap((fits, at) => (fits ? [at] : []));
  return hours.flatMap((h) => minutes.map((m) => (h * 60 + m) * 60_000));
}

/** The days of a month that fit, whatever the month. */
function daysOf(pattern: CronPattern, year: number, month: number): WallTime[] {
  const first = Date.UTC(year, month, 1);
  const length = Math.round((Date.UTC(year, month + 1, 1) - first) / day_ms);
  const weekdayOfFirst = new Date(first).getUTCDay();
  const weekdayOf = (day: number) => (weekdayOfFirst + day - 1) % 7;

  const named = namedDays(pattern, length, weekdayOf);
  const fitsDate = (day: number) => Boolean(pattern.day[day - 1]) || named.has(day);
  const fitsWeekday = (day: number) => {
    const which = pattern.dayOfWeek[weekdayOf(day)] ?? 0;
    const isNth = which & (1 << Math.floor((day - 1) / 7));
    return isNth !== 0 || ((which & last_of_month) !== 0 && day + 7 > length);
  };
  const fits = (day: number) => {
    if (pattern.starDOW) return fitsDate(day);
    const both = pattern.useAndLogic || pattern.starDOM;
    return both ? fitsDate(day) && fitsWeekday(day) : fitsDate(day) || fitsWeekday(day);
  };

  const days: WallTime[] = [];
  for (let day = 1; day <= length; day += 1) if (fits(day)) days.push(first + (day - 1) * day_ms);
  return days;
}

/** For each day of the week the library has a bit for the first of a month, and so on to the fifth; then this one. */
const last_of_month = 32;

/** The days of a month that a field names in words: `L`, `LW`, `15W`. */
function namedDays(pattern: CronPattern, length: number, weekdayOf: (day: number) => number): Set<number> {
  /** Saturday's is the day before, Sunday's the day after, unless that is another month. */
  const workdayBy = (day: number): number => {
    const weekday = weekdayOf(day);
    if (weekday === 6) return day === 1 ? day + 2 : day - 1;
    if (weekday === 0) return day === length ? day - 2 : day + 1;
    return day;
  };
  const named = new Set<number>();
  if (pattern.lastDayOfMonth) named.add(length);
  if (pattern.lastWeekday) named.add(workdayBy(length));
  pattern.nearestWeekdays.forEach((wanted, at) => {
    if (wanted && at < length) named.add(workdayBy(at + 1));
  });
  return named;
}
