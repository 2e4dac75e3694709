import { z } from "zod";
import { jobTemplate } from "./submit/submission.ts";
import { limits } from "../checks/limits.ts";
import { pathName, pathNameAccepts } from "../checks/path-name.ts";
import { listJobsQuery } from "./listing.ts";
import { describeFields, describeValue } from "../checks/field-texts.ts";

/**
 * What becomes of slots that passed while nothing could fire them: nothing, one job for the latest, or a job for each,
 * oldest first.
 */
export const catchUps = ["none", "one", "all"] as const;
export type CatchUp = (typeof catchUps)[number];

export const scheduleName = describeValue(
  z
    .string()
    .max(limits.schedule_name_chars_max)
    .regex(pathName)
    .describe(`a string of 1 to ${limits.schedule_name_chars_max} characters ${pathNameAccepts}`),
  "The schedule's name.",
);

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

const definition = describeFields(
  z.strictObject({
    name: scheduleName,
    cron,
    timezone: timezone.default("UTC"),
    catch_up: z
      .enum(catchUps)
      .default("one")
      .describe(`one of ${catchUps.join(", ")}`),
    job: jobTemplate,
  }),
  {
    name: "The schedule's name.",
    cron: "When the schedule runs.",
    timezone: "The time zone that `cron` is read in.",
    catch_up:
      "What to do about runs that were missed while no AtlasQueue process ran: skip them, run the last one, or run all.",
    job: "The job that each run submits.",
  },
);

/** The body of `POST /v1/schedules`. */
export const createSchedule = definition;
export type CreateScheduleInput = z.input<typeof createSchedule>;
export type CreateSchedule = z.output<typeof createSchedule>;

/** The body of `PUT /v1/schedules/{name}`: the whole schedule. Its name may be left out, as it is in the path. */
export const putSchedule = describeFields(
  definition.extend({ name: scheduleName.optional().describe("the name in the path") }),
  {
    name: "The schedule's name. It may be left out.",
  },
);
export type PutScheduleInput = z.input<typeof putSchedule>;
export type PutSchedule = z.output<typeof putSchedule>;

/** A schedule as people see it. */
export const schedule = describeFields(
  z.strictObject({
    name: z.string(),
    cron: z.string(),
    timezone: z.string(),
    catch_up: z.enum(catchUps),
    job: jobTemplate,
    paused: z.boolean(),
    next_runs: z.array(z.iso.datetime()),
    last_run: z.iso.datetime().nullable(),
    last_job_id: z.uuid().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
  {
    name: "The schedule's name.",
    cron: "When the schedule runs: minute, hour, day of month, month and day of week.",
    timezone: "The time zone that `cron` is read in.",
    catch_up: "What happens to missed runs: `none` skips them, `one` runs the last one, `all` runs each.",
    job: "The job that each run submits.",
    paused: "True if the schedule does not run.",
    next_runs: "The next five runs. Empty while the schedule is paused.",
    last_run: "The time of the last run. Null before the first.",
    last_job_id: "The job that the last run submitted. Null before the first run.",
    created_at: "When the schedule was created.",
    updated_at: "When the schedule changed last.",
  },
);
export type Schedule = z.infer<typeof schedule>;

/** The query of `GET /v1/schedules`, which are ordered by name. */
export const listSchedulesQuery = listJobsQuery.pick({ limit: true, cursor: true });

/** A page of schedules; null marks the end. */
export const schedulePage = describeFields(
  z.strictObject({ items: z.array(schedule), next_cursor: z.string().nullable() }),
  {
    items: "The schedules, by name.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
  },
);
export type SchedulePage = z.infer<typeof schedulePage>;
