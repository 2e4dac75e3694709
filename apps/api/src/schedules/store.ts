import {
  createSchedule as createScheduleBody,
  limits,
  putSchedule as putScheduleBody,
  type CreateSchedule,
  type Schedule,
  type TraceContext,
} from "@atlasqueue/contract";
import { putSchedule } from "@atlasqueue/core/internal";
import { cronFault, showSchedule } from "@atlasqueue/core/internal/http";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { admitJobs } from "../jobs/admit-jobs.ts";
import type { RouteDeps } from "../route/deps.ts";
import { route } from "../route/route.ts";
import { answer, exampleDefinition, exampleName, path } from "./parts.ts";

const location = { Location: "Where the schedule is." };

export const create = route(
  {
    at: "POST /v1/schedules",
    id: "createSchedule",
    audit: { action: "schedule.create", asks: ({ body }: { body: CreateSchedule }) => askSchedule(body, body.name) },
    tag: "Schedules",
    summary: "Create a schedule",
    description:
      "It runs from its next time on. Any worker or API process submits its job, with the key `schedule:{name}:{time}`. Day of the month " +
      "and day of the week: either is enough. Fixed times that the clock skips run right after the gap, those it " +
      "shows twice run the first time. A `*` or a step in the minute or the hour runs whenever the clock shows it. " +
      "`catch_up` chooses what happens to runs missed in a downtime: none, the latest, or all (the last 1,000).",
    scope: "admin",
    request: { body: { schema: createScheduleBody, example: { name: exampleName, ...exampleDefinition } } },
    answers: { 201: { ...answer("The new schedule."), headers: location } },
    problems: ["already_exists", "too_many_schedules", "too_many_queues", "storage_full"],
  },
  async (call) => {
    const { schedule } = await stored(call, call.body, false);
    return { status: 201, body: schedule, headers: { location: placeOf(schedule) } };
  },
);

export const put = route(
  {
    at: "PUT /v1/schedules/{name}",
    id: "putSchedule",
    audit: { action: "schedule.put", asks: ({ body }: { body: Omit<CreateSchedule, "name"> }) => askSchedule(body) },
    tag: "Schedules",
    summary: "Create or replace a schedule",
    description:
      "With the same cron and time zone it keeps its position, so it may be put at every program start; with others it " +
      "goes on with its next time from now. A paused one stays paused.",
    scope: "admin",
    request: { path, body: { schema: putScheduleBody, example: exampleDefinition } },
    answers: { 200: answer("The schedule, replaced."), 201: { ...answer("The new schedule."), headers: location } },
    problems: ["too_many_schedules", "too_many_queues", "storage_full"],
  },
  async (call) => {
    const { name } = call.path;
    if (call.body.name !== undefined && call.body.name !== name)
      throw invalid([{ pointer: "/name", message: "must not differ from the name in the path" }]);
    const { kind, schedule } = await stored(call, { ...call.body, name }, true);
    if (kind === "replaced") return { status: 200, body: schedule };
    return { status: 201, body: schedule, headers: { location: placeOf(schedule) } };
  },
);

/** What the schedule is to do, without the payload, which may be large and secret. */
function askSchedule({ cron, timezone, job }: Pick<CreateSchedule, "cron" | "timezone" | "job">, target?: string) {
  return { ...(target !== undefined && { target }), detail: { cron, timezone, type: job.type, queue: job.queue } };
}

type Storing = { deps: RouteDeps; tenant: string; bytes: number; trace: TraceContext | undefined };
type Stored = { kind: "created" | "replaced"; schedule: Schedule };

async function stored(
  { deps, tenant, bytes, trace }: Storing,
  definition: CreateSchedule,
  replaces: boolean,
): Promise<Stored> {
  // What the contract's schema cannot know: what the cron fields mean, and what this operator stores.
  const fault = cronFault(definition);
  if (fault) throw invalid([fault]);
  await admitJobs(deps, { tenant, bytes }, [{ request: definition.job }], () => "/job");
  const outcome = await putSchedule(deps, tenant, definition, trace, replaces);
  switch (outcome.kind) {
    case "created":
    case "replaced":
      return { kind: outcome.kind, schedule: showSchedule(outcome.schedule) };
    case "exists":
      throw new ProblemError("already_exists", "There is a schedule with this name; PUT replaces it");
    case "too_many":
      throw new ProblemError(
        "too_many_schedules",
        `There may be ${limits.schedules_max}; delete one that is not needed`,
      );
    default:
      return outcome satisfies never;
  }
}

const placeOf = ({ name }: Schedule) => `/v1/schedules/${name}`;
