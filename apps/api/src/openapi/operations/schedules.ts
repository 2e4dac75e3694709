import {
  createSchedule,
  listSchedulesQuery,
  putSchedule,
  schedule,
  scheduleName,
  schedulePage,
  type CreateScheduleInput,
  type Schedule,
} from "@atlasqueue/contract";
import { z } from "zod";
import { noBody, type Operation } from "../../route/operation.ts";

const byName = z.strictObject({ name: scheduleName });

const { name, ...example }: CreateScheduleInput = {
  name: "report",
  cron: "30 2 * * MON-FRI",
  timezone: "Europe/Berlin",
  catch_up: "one",
  job: { type: "report.send", payload: { to: "a@b.c" } },
};
const shown: Schedule = {
  ...schedule.pick({ cron: true, timezone: true, catch_up: true, job: true }).parse(example),
  name,
  paused: false,
  next_runs: ["28", "29", "30", "31"].map((day) => `2030-01-${day}T01:30:00.000Z`).concat("2030-02-01T01:30:00.000Z"),
  last_run: null,
  last_job_id: null,
  created_at: "2030-01-26T12:00:00.000Z",
  updated_at: "2030-01-26T12:00:00.000Z",
};
const answer = (description: string) => ({ description, schema: schedule, example: shown });
const location = { Location: "Where the schedule is." };

/** Jobs that come back by cron. */
export const scheduleOperations: Operation[] = [
  {
    method: "get",
    path: "/v1/schedules",
    id: "listSchedules",
    tag: "Schedules",
    summary: "List the schedules",
    scope: "read",
    request: { query: listSchedulesQuery },
    answers: {
      200: {
        description: "A page of schedules, in the order of their names.",
        schema: schedulePage,
        example: { items: [shown], next_cursor: null },
      },
    },
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/v1/schedules",
    id: "createSchedule",
    tag: "Schedules",
    summary: "Create a schedule",
    description:
      "It fires from its next slot on: the workers submit its job, with the key `schedule:{name}:{slot}`. Day of the month " +
      "and day of the week: either is enough. Fixed times that the clock skips fire right after the gap, those that it " +
      "shows twice fire the first time; a `*` or a step in the minute or the hour fires whenever the clock shows it. " +
      "`catch_up` says which slots of a downtime get a job: none, the latest one, or all (the last 1,000).",
    scope: "admin",
    request: { body: { schema: createSchedule, example: { name, ...example } } },
    answers: { 201: { ...answer("The new schedule."), headers: location } },
    problems: ["already_exists", "too_many_schedules", "too_many_queues"],
  },
  {
    method: "get",
    path: "/v1/schedules/{name}",
    id: "getSchedule",
    tag: "Schedules",
    summary: "Read a schedule",
    scope: "read",
    request: { path: byName },
    answers: { 200: answer("The schedule, with its next five runs.") },
    problems: ["validation", "not_found"],
  },
  {
    method: "put",
    path: "/v1/schedules/{name}",
    id: "putSchedule",
    tag: "Schedules",
    summary: "Create or replace a schedule",
    description:
      "With the same cron and time zone it keeps its place, so it may be put at every start of a program; with others it " +
      "goes on with the next slot from now on. One that is paused stays paused.",
    scope: "admin",
    request: { path: byName, body: { schema: putSchedule, example } },
    answers: { 200: answer("The schedule, replaced."), 201: { ...answer("The new schedule."), headers: location } },
    problems: ["too_many_schedules", "too_many_queues"],
  },
  {
    method: "post",
    path: "/v1/schedules/{name}/pause",
    id: "pauseSchedule",
    tag: "Schedules",
    summary: "Fire nothing",
    scope: "admin",
    request: { path: byName, body: noBody },
    answers: { 200: { ...answer("The schedule, paused."), example: { ...shown, paused: true, next_runs: [] } } },
    problems: ["validation", "not_found"],
  },
  {
    method: "post",
    path: "/v1/schedules/{name}/resume",
    id: "resumeSchedule",
    tag: "Schedules",
    summary: "Fire again",
    description: "From the next slot on: nothing is caught up, whatever `catch_up` says.",
    scope: "admin",
    request: { path: byName, body: noBody },
    answers: { 200: answer("The schedule, not paused.") },
    problems: ["validation", "not_found"],
  },
  {
    method: "delete",
    path: "/v1/schedules/{name}",
    id: "deleteSchedule",
    tag: "Schedules",
    summary: "Delete a schedule",
    description: "The jobs that it made stay.",
    scope: "admin",
    request: { path: byName, body: noBody },
    answers: { 204: { description: "It is deleted." } },
    problems: ["validation", "not_found"],
  },
];
