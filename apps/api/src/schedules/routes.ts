import { job, jobTemplate, listSchedulesQuery, schedulePage, type Job, type Schedule } from "@atlasqueue/contract";
import {
  deleteSchedule,
  findSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  showJob,
  showSchedule,
  showSchedules,
  type SeenSchedule,
} from "@atlasqueue/core/internal/http";
import { unknown } from "../http/answers/problem.ts";
import { admitJobs } from "../jobs/admit-jobs.ts";
import { uniqueConflict } from "../jobs/refused.ts";
import { showKnown } from "../jobs/show-known.ts";
import { exampleJob } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { makes, pageOf } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { answer, exampleSchedule, path } from "./parts.ts";
import { create, put } from "./store.ts";

const list = route(
  {
    at: "GET /v1/schedules",
    id: "listSchedules",
    tag: "Schedules",
    summary: "List schedules",
    description: "A page of large payloads ends after about 4 MiB.",
    scope: "read",
    request: { query: listSchedulesQuery },
    answers: pageOf(
      schedulePage,
      exampleSchedule,
      "A page of schedules, ordered by name. It may be short and still have a `next_cursor`; null means there is no more.",
    ),
  },
  async ({ deps, tenant, query: { limit, cursor } }) => {
    const page = deps.cursors.page({ list: "schedules", tenant, filter: {} }, cursor);
    const { rows, next } = await listSchedules(deps, tenant, limit, page.after);
    const items = await showSchedules(rows);
    return { items, next_cursor: page.next(next) };
  },
);

const get = route(
  {
    at: "GET /v1/schedules/{name}",
    id: "getSchedule",
    tag: "Schedules",
    summary: "Get a schedule",
    scope: "read",
    request: { path },
    answers: { 200: answer("The schedule, with its next five runs.") },
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { name } }) => shown(await findSchedule(deps, { tenant, name })),
);

const toggle = (what: "pause" | "resume", apply: typeof pauseSchedule, description: string, example: Schedule) =>
  route(
    {
      at: `POST /v1/schedules/{name}/${what}`,
      id: `${what}Schedule`,
      audit: { action: `schedule.${what}` },
      tag: "Schedules",
      summary: `${what === "pause" ? "Pause" : "Resume"} a schedule`,
      description,
      scope: "admin",
      request: { path, body: noBody },
      answers: { 200: { ...answer("The schedule."), example } },
      problems: ["not_found"],
    },
    async ({ deps, tenant, path: { name } }) => shown(await apply(deps, { tenant, name })),
  );

const pause = toggle("pause", pauseSchedule, "It runs no more until it is resumed.", {
  ...exampleSchedule,
  paused: true,
  next_runs: [],
});
const resume = toggle(
  "resume",
  resumeSchedule,
  "It runs from its next time on. Runs that were missed while it was paused are skipped, whatever `catch_up` says.",
  exampleSchedule,
);

const run = route(
  {
    at: "POST /v1/schedules/{name}/run",
    id: "runSchedule",
    audit: { action: "schedule.run", tells: (_input, { id }: Job) => ({ detail: { job_id: id } }) },
    tag: "Schedules",
    summary: "Run a schedule now",
    description: "This submits its job, even while it is paused. Its scheduled runs stay the same.",
    scope: "admin",
    request: { path, body: noBody },
    answers: makes("The job.", job, exampleJob),
    problems: ["not_found", "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, path: { name }, trace }) => {
    const schedule = (await findSchedule(deps, { tenant, name })) ?? unknown(by_name);
    // Parsed again: a later version of the program may have given jobs more fields.
    const request = jobTemplate.parse(schedule.job);
    const bytes = Buffer.byteLength(JSON.stringify(request.payload));
    // Whatever may be stored by now: its payload was small enough when it was.
    await admitJobs({ ...deps, payload_bytes_max: Infinity }, { tenant, bytes }, [{ request }]);
    const outcome = await deps.submitter.submit({ tenant, request, idempotency_key: undefined, trace }, bytes);
    if (outcome.kind === "created") return showJob(outcome.job);
    if ("job" in outcome) return showKnown(deps, outcome, request);
    if (outcome.kind === "conflict") throw uniqueConflict(outcome.job_id);
    throw new Error("a submission without a key was a mismatch");
  },
);

const remove = route(
  {
    at: "DELETE /v1/schedules/{name}",
    id: "deleteSchedule",
    audit: { action: "schedule.delete" },
    tag: "Schedules",
    summary: "Delete a schedule",
    description: "The jobs that it submitted stay.",
    scope: "admin",
    request: { path, body: noBody },
    answers: { 204: { description: "It is deleted." } },
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { name } }) => {
    if (!(await deleteSchedule(deps, { tenant, name }))) unknown(by_name);
  },
);

/** Jobs that recur by cron. */
export const scheduleRoutes = [list, create, get, put, pause, resume, run, remove];

const by_name = "schedule with this name";
const shown = (found: SeenSchedule | undefined): Schedule => showSchedule(found ?? unknown(by_name));
