import { schedule, scheduleName, type CreateScheduleInput, type Schedule } from "@atlasqueue/contract";
import { z } from "zod";

/** The path of the operations on one schedule. */
export const path = z.strictObject({ name: scheduleName });

const { name, ...definition }: CreateScheduleInput = {
  name: "report",
  cron: "30 2 * * MON-FRI",
  timezone: "Europe/Berlin",
  catch_up: "one",
  job: { type: "report.send", payload: { to: "a@b.c" } },
};
export const exampleName = name;
/** A whole schedule except its name. */
export const exampleDefinition = definition;

export const exampleSchedule: Schedule = {
  ...schedule.pick({ cron: true, timezone: true, catch_up: true, job: true }).parse(definition),
  name,
  paused: false,
  next_runs: ["28", "29", "30", "31"].map((day) => `2030-01-${day}T01:30:00.000Z`).concat("2030-02-01T01:30:00.000Z"),
  last_run: null,
  last_job_id: null,
  created_at: "2030-01-26T12:00:00.000Z",
  updated_at: "2030-01-26T12:00:00.000Z",
};

export const answer = (description: string) => ({ description, schema: schedule, example: exampleSchedule });
