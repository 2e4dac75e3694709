import { textTable } from "../table.ts";
import type { ScheduleAnswer } from "./answers.ts";

/** Schedules for a person: one a line. */
export function scheduleTable(schedules: readonly ScheduleAnswer[]): string {
  const head = ["name", "cron", "time zone", "catch up", "job", "next run there"];
  return textTable(
    head,
    schedules.map((one) => [one.name, one.cron, one.timezone, one.catch_up, one.job.type, nextRun(one)]),
  );
}

/** One schedule for a person, with its next runs on the clocks of its time zone and in UTC. */
export function scheduleText(one: ScheduleAnswer): string {
  const facts = [
    ["name", one.name],
    ["cron", one.cron],
    ["time zone", one.timezone],
    ["catch up", one.catch_up],
    ["job", JSON.stringify(one.job)],
    ["paused", one.paused ? "yes" : "no"],
    ["last run", one.last_run === null ? "never" : `${one.last_run}  job ${one.last_job_id}`],
    ...one.next_runs.map((time, at) => [at === 0 ? "next runs" : "", `${local(time, one.timezone)}  ${time}`]),
  ];
  return facts.map(([name = "", fact = ""]) => `${name.padEnd(11)}${printable(fact)}\n`).join("");
}

function nextRun({ paused, next_runs, timezone }: ScheduleAnswer): string {
  const [first] = next_runs;
  if (first === undefined) return paused ? "paused" : "never";
  return local(first, timezone);
}

/** @example local("2026-03-29T01:00:00.000Z", "Europe/Berlin"); // "2026-03-29 03:00" */
function local(time: string, timezone: string): string {
  return new Intl.DateTimeFormat("sv", { timeZone: timezone, dateStyle: "short", timeStyle: "short" }).format(
    new Date(time),
  );
}

/** JSON leaves some control characters as they are, and they could rewrite a screen. */
const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, " ");
