import { z } from "zod";
import { jobTemplate } from "./job.ts";
import { limits } from "../checks/limits.ts";
import { pathName, pathNameAccepts } from "../checks/path-name.ts";
import { listJobsQuery } from "./listing.ts";

/**
 * What becomes of slots that passed while nothing could fire them: nothing, one job for the latest, or a job for each,
 * oldest first.
 */
export const catchUps = ["none", "one", "all"] as const;
export type CatchUp = (typeof catchUps)[number];

export const scheduleName = z
  .string()
  .max(limits.schedule_name_chars_max)
  .regex(pathName)
  .describe(`a string of 1 to ${limits.schedule_name_chars_max} characters ${pathNameAccepts}`);

// The number of fields and their characters; core, which has the library, checks what they mean.
const cron = z
  .string()
  .max(limits.cron_chars_max)
  .regex(/^ *[0-9A-Za-z*,/#-]+( +[0-9A-Za-z*,/#-]+){4} *$/)
  .overwrite((text) => text.trim().replaceAll(/ +/g, " "))
  .describe("five fields, minute hour day-of-month month day-of-week, such as 30 2 * * MON-FRI");

/** Names only: an offset such as +02:00 has no daylight saving time, and systems differ in whether they accept one. */
const timezone = z
  .string()
  .max(limits.timezone_chars_max)
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/)
  .refine(isTimeZone)
  .describe("the IANA name of a time zone, such as Europe/Berlin");

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const definition = z.strictObject({
  name: scheduleName,
  cron,
  timezone: timezone.default("UTC"),
  catch_up: z
    .enum(catchUps)
    .default("one")
    .describe(`one of ${catchUps.join(", ")}`),
  job: jobTemplate,
});

/** The body of `POST /v1/schedules`. */
export const createSchedule = definition;
export type CreateScheduleInput = z.input<typeof createSchedule>;
export type CreateSchedule = z.output<typeof createSchedule>;

/** The body of `PUT /v1/schedules/{name}`: the whole schedule. Its name may be left out, as it is in the path. */
export const putSchedule = definition.extend({ name: scheduleName.optional().describe("the name in the path") });
export type PutScheduleInput = z.input<typeof putSchedule>;
export type PutSchedule = z.output<typeof putSchedule>;

/** A schedule as people see it. */
export const schedule = z.strictObject({
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  catch_up: z.enum(catchUps),
  job: jobTemplate,
  paused: z.boolean(),
  /** The next five slots; none while it is paused. */
  next_runs: z.array(z.iso.datetime()),
  /** The slot fired last, and its job. */
  last_run: z.iso.datetime().nullable(),
  last_job_id: z.uuid().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Schedule = z.infer<typeof schedule>;

/** The query of `GET /v1/schedules`, which are ordered by name. */
export const listSchedulesQuery = listJobsQuery.pick({ limit: true, cursor: true });

/** A page of schedules; null marks the end. */
export const schedulePage = z.strictObject({ items: z.array(schedule), next_cursor: z.string().nullable() });
export type SchedulePage = z.infer<typeof schedulePage>;
