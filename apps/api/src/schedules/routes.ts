import { listSchedulesQuery, schedulePage, type Schedule } from "@atlasqueue/contract";
import {
  deleteSchedule,
  findSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  showSchedule,
  type SeenSchedule,
} from "@atlasqueue/core/internal";
import { ProblemError } from "../http/answers/problem.ts";
import type { CursorOf } from "../http/input/cursor.ts";
import { noBody } from "../route/operation.ts";
import { route } from "../route/route.ts";
import { answer, exampleSchedule, path } from "./parts.ts";
import { create, put } from "./store.ts";

const list = route(
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
        description: "A page of schedules, ordered by name.",
        schema: schedulePage,
        example: { items: [exampleSchedule], next_cursor: null },
      },
    },
    problems: ["validation"],
  },
  async ({ deps, tenant, query: { limit, cursor } }) => {
    const of: CursorOf = { list: "schedules", tenant, filter: {} };
    const { rows, next } = await listSchedules(deps, tenant, limit, deps.cursors.read(of, cursor));
    return { items: rows.map(showSchedule), next_cursor: next === undefined ? null : deps.cursors.write(of, next) };
  },
);

const get = route(
  {
    method: "get",
    path: "/v1/schedules/{name}",
    id: "getSchedule",
    tag: "Schedules",
    summary: "Read a schedule",
    scope: "read",
    request: { path },
    answers: { 200: answer("The schedule, with its next five runs.") },
    problems: ["validation", "not_found"],
  },
  async ({ deps, tenant, path: { name } }) => shown(await findSchedule(deps, { tenant, name })),
);

const pause = route(
  {
    method: "post",
    path: "/v1/schedules/{name}/pause",
    id: "pauseSchedule",
    tag: "Schedules",
    summary: "Fire nothing",
    scope: "admin",
    request: { path, body: noBody },
    answers: {
      200: { ...answer("The schedule, paused."), example: { ...exampleSchedule, paused: true, next_runs: [] } },
    },
    problems: ["validation", "not_found"],
  },
  async ({ deps, tenant, path: { name } }) => shown(await pauseSchedule(deps, { tenant, name })),
);

const resume = route(
  {
    method: "post",
    path: "/v1/schedules/{name}/resume",
    id: "resumeSchedule",
    tag: "Schedules",
    summary: "Fire again",
    description: "From the next slot on: nothing is caught up, whatever `catch_up` says.",
    scope: "admin",
    request: { path, body: noBody },
    answers: { 200: answer("The schedule, not paused.") },
    problems: ["validation", "not_found"],
  },
  async ({ deps, tenant, path: { name } }) => shown(await resumeSchedule(deps, { tenant, name })),
);

const remove = route(
  {
    method: "delete",
    path: "/v1/schedules/{name}",
    id: "deleteSchedule",
    tag: "Schedules",
    summary: "Delete a schedule",
    description: "The jobs it made stay.",
    scope: "admin",
    request: { path, body: noBody },
    answers: { 204: { description: "It is deleted." } },
    problems: ["validation", "not_found"],
  },
  async ({ deps, tenant, path: { name } }) => {
    if (!(await deleteSchedule(deps, { tenant, name }))) unknownSchedule();
  },
);

/** Jobs that recur by cron. */
export const scheduleRoutes = [list, create, get, put, pause, resume, remove];

const shown = (found: SeenSchedule | undefined): Schedule => showSchedule(found ?? unknownSchedule());

function unknownSchedule(): never {
  throw new ProblemError("not_found", "There is no schedule with this name");
}
