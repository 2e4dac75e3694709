import type { Client } from "@atlasqueue/client";
import type { CreateScheduleInput, Schedule } from "@atlasqueue/contract";
import { writeJson, type Output } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { scheduleColumns, scheduleText } from "./show.ts";

/** What the options can set; only what was given. */
export type ScheduleFields = Partial<Pick<CreateScheduleInput, "cron" | "timezone" | "catch_up">>;

export async function list({ schedules }: Client, output: Output): Promise<void> {
  const items: Schedule[] = [];
  for await (const schedule of schedules.list()) items.push(schedule);
  if (output.json) return writeJson(output, { items });
  if (items.length === 0) return output.tell("No schedules\n");
  showTable(output, scheduleColumns, items);
}

export async function show({ schedules }: Client, name: string, output: Output): Promise<void> {
  print(await schedules.get(name), output);
}

/** Rejects with ConflictError when the name is taken. */
export async function create({ schedules }: Client, definition: CreateScheduleInput, output: Output): Promise<void> {
  print(await schedules.create(definition), output);
}

/** What is not given stays as it is. Of two concurrent changes to one schedule, the last one wins. */
export async function change(
  { schedules }: Client,
  name: string,
  changes: ScheduleFields & { job: Partial<CreateScheduleInput["job"]> },
  output: Output,
): Promise<void> {
  const { cron, timezone, catch_up, job } = await schedules.get(name);
  const schedule = { name, cron, timezone, catch_up, ...changes, job: { ...job, ...changes.job } };
  print(await schedules.put(schedule), output);
}

export async function setPaused(
  { schedules }: Client,
  name: string,
  verb: "pause" | "resume",
  output: Output,
): Promise<void> {
  print(await schedules[verb](name), output);
}

export async function remove({ schedules }: Client, name: string, output: Output): Promise<void> {
  await schedules.delete(name);
  output.tell(`${name} is deleted; the jobs it made stay\n`);
}

function print(schedule: Schedule, output: Output): void {
  if (output.json) writeJson(output, schedule);
  else output.write(scheduleText(schedule));
}

/** Submit its job now: the id on stdout. */
export async function runNow(client: Client, name: string, output: Output): Promise<void> {
  const job = await client.schedules.run(name);
  if (output.json) return writeJson(output, job);
  output.tell(`${name} has submitted a job\n`);
  output.write(`${job.id}\n`);
}
