import type { Schedule } from "@atlasqueue/contract";
import { plain } from "../output/plain.ts";
import type { Columns } from "../output/table.ts";

export const scheduleColumns: Columns<Schedule> = {
  name: ({ name }) => name,
  cron: ({ cron }) => cron,
  "time zone": ({ timezone }) => timezone,
  "catch up": ({ catch_up }) => catch_up,
  job: ({ job }) => job.type,
  "next run there": nextRun,
};

/** One schedule for a person, with its next runs in its time zone and in UTC. */
export function scheduleText(one: Schedule): string {
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
  return facts.map(([name = "", fact = ""]) => `${name.padEnd(11)}${plain(fact)}\n`).join("");
}

function nextRun({ paused, next_runs, timezone }: Schedule): string {
  const [first] = next_runs;
  if (first === undefined) return paused ? "paused" : "never";
  return local(first, timezone);
}

/** @example local("2026-03-29T01:00:00.000Z", "Europe/Berlin"); // "2026-03-29 03:00+02:00" */
function local(time: string, timeZone: string): string {
  const at = new Date(time);
  const minute = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" }).format(at);
  const named = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(at);
  const offset = named.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "");
  return `${minute}${offset || "Z"}`;
}
