import { limits } from "@atlasqueue/contract";
import type { CallApi } from "../call-api.ts";
import { readPage, readSchedule, type ScheduleAnswer } from "./answers.ts";
import { scheduleTable, scheduleText } from "./show.ts";

/** `write` is for what a program reads, `tell` for what a person reads beside it. */
export type ScheduleIo = { json: boolean; write(text: string): void; tell(text: string): void };

/** What options can set; only what was given. */
export type ScheduleFields = { cron?: string; timezone?: string; catch_up?: string };

const pathOf = (name: string) => `schedules/${encodeURIComponent(name)}`;

export async function list(api: CallApi, io: ScheduleIo): Promise<void> {
  const items: ScheduleAnswer[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = readPage(await api("GET", `schedules?limit=${limits.list_items_max}${after}`));
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  if (io.json) return io.write(`${JSON.stringify({ items })}\n`);
  if (items.length === 0) return io.tell("there are no schedules\n");
  io.write(scheduleTable(items));
}

export async function show(api: CallApi, name: string, io: ScheduleIo): Promise<void> {
  print(await api("GET", pathOf(name)), io);
}

/** Throws `Trouble` when there is one of this name. */
export async function create(
  api: CallApi,
  definition: { name: string; job: object } & ScheduleFields,
  io: ScheduleIo,
): Promise<void> {
  print(await api("POST", "schedules", definition), io);
}

/** What is not given stays as it is. Two that change one schedule at the same time: the last one wins. */
export async function change(
  api: CallApi,
  name: string,
  changes: ScheduleFields & { job: object },
  io: ScheduleIo,
): Promise<void> {
  const { cron, timezone, catch_up, job } = readSchedule(await api("GET", pathOf(name)));
  print(await api("PUT", pathOf(name), { cron, timezone, catch_up, ...changes, job: { ...job, ...changes.job } }), io);
}

export async function setPaused(api: CallApi, name: string, verb: "pause" | "resume", io: ScheduleIo): Promise<void> {
  print(await api("POST", `${pathOf(name)}/${verb}`), io);
}

export async function remove(api: CallApi, name: string, io: ScheduleIo): Promise<void> {
  await api("DELETE", pathOf(name));
  io.tell(`${name} is deleted; the jobs that it made stay\n`);
}

function print(answer: unknown, io: ScheduleIo): void {
  const schedule = readSchedule(answer);
  io.write(io.json ? `${JSON.stringify(schedule)}\n` : scheduleText(schedule));
}
