import {
  createSchedule as createScheduleSchema,
  limits,
  listSchedulesQuery,
  putSchedule as putScheduleSchema,
  type CreateSchedule,
  type Schedule,
  type SchedulePage,
} from "@atlasqueue/contract";
import {
  createSchedule,
  cronFault,
  deleteSchedule,
  findSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  resumeSchedule,
  showSchedule,
  type Deps,
  type QueueBound,
  type SeenSchedule,
  type StoreOutcome,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerEmpty, answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { CursorOf, Cursors } from "../http/input/cursor.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { requireNoBody } from "../http/body/no-body.ts";
import { readScheduleName } from "../http/input/params.ts";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { readQuery, refuseQuery } from "../http/input/query.ts";
import { readRequest, requireSmall } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type ScheduleRouteDeps = Deps & {
  gate: Gate;
  queueBound: QueueBound;
  cursors: Cursors;
  body_bytes_max: number;
  payload_bytes_max: number;
};
type Ref = { tenant: string; name: string };

/** Jobs that come back by cron: list, look, create, replace, pause, resume, delete. */
export function scheduleRoutes(deps: ScheduleRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/schedules", requires("read"), async (c) => {
    const { limit, cursor } = readQuery(c, listSchedulesQuery);
    const of: CursorOf = { list: "schedules", tenant: tenantOf(c), filter: {} };
    const after = deps.cursors.read(of, cursor);
    const { rows, next } = await deps.gate.hold(holderOf(c), 0, () => listSchedules(deps, tenantOf(c), limit, after));
    const page: SchedulePage = {
      items: rows.map(showSchedule),
      next_cursor: next === undefined ? null : deps.cursors.write(of, next),
    };
    return answerJson(c, 200, page);
  });

  routes.post("/schedules", requires("admin"), async (c) => {
    const { value, bytes } = await readRequest(c, createScheduleSchema, { bytes_max: deps.body_bytes_max });
    check(value, bytes);
    return answerStored(c, await store(c, value, bytes, createSchedule));
  });

  routes.put("/schedules/:name", requires("admin"), async (c) => {
    const name = readScheduleName(c);
    const { value, bytes } = await readRequest(c, putScheduleSchema, { bytes_max: deps.body_bytes_max });
    if (value.name !== undefined && value.name !== name)
      throw invalid([{ pointer: "/name", message: "must not differ from the name in the path" }]);
    const definition = { ...value, name };
    check(definition, bytes);
    return answerStored(c, await store(c, definition, bytes, putSchedule));
  });

  const store = (c: ApiContext, definition: CreateSchedule, bytes: number, apply: typeof putSchedule) =>
    deps.gate.hold(holderOf(c), bytes, async () => {
      await deps.queueBound.admit(tenantOf(c), [definition.job.queue]);
      return apply(deps, tenantOf(c), definition);
    });

  routes.get("/schedules/:name", requires("read"), async (c) => {
    refuseQuery(c);
    const ref = { tenant: tenantOf(c), name: readScheduleName(c) };
    return answerFound(c, await deps.gate.hold(holderOf(c), 0, () => findSchedule(deps, ref)));
  });

  const change = async (c: ApiContext, apply: (ref: Ref) => Promise<SeenSchedule | undefined>) => {
    refuseQuery(c);
    const ref = { tenant: tenantOf(c), name: readScheduleName(c) };
    await requireNoBody(c);
    return answerFound(c, await deps.gate.hold(holderOf(c), 0, () => apply(ref)));
  };
  routes.post("/schedules/:name/pause", requires("admin"), (c) => change(c, (ref) => pauseSchedule(deps, ref)));
  routes.post("/schedules/:name/resume", requires("admin"), (c) => change(c, (ref) => resumeSchedule(deps, ref)));

  routes.delete("/schedules/:name", requires("admin"), async (c) => {
    refuseQuery(c);
    const ref = { tenant: tenantOf(c), name: readScheduleName(c) };
    await requireNoBody(c);
    if (!(await deps.gate.hold(holderOf(c), 0, () => deleteSchedule(deps, ref)))) unknownSchedule();
    return answerEmpty(c);
  });

  /** What the contract's schema cannot know: what the fields of cron mean, and what this operator stores. */
  const check = (definition: CreateSchedule, bytes: number): void => {
    const fault = cronFault(definition);
    if (fault) throw invalid([fault]);
    requireSmall(definition.job.payload, "/job/payload", bytes, deps.payload_bytes_max);
  };

  return routes;
}

function answerStored(c: ApiContext, outcome: StoreOutcome): Response {
  switch (outcome.kind) {
    case "created": {
      const shown = showSchedule(outcome.schedule);
      return answerJson(c, 201, shown, { location: `/v1/schedules/${shown.name}` });
    }
    case "replaced":
      return answerJson(c, 200, showSchedule(outcome.schedule));
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

function answerFound(c: ApiContext, found: SeenSchedule | undefined): Response {
  return answerJson(c, 200, showSchedule(found ?? unknownSchedule()) satisfies Schedule);
}

function unknownSchedule(): never {
  throw new ProblemError("not_found", "There is no schedule with this name");
}
