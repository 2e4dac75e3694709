import { openQueueListQuery, type OpenQueueJobPage, type OpenQueueJobStatus } from "@atlasqueue/contract";
import { cancel, findJob, listJobsAt, type JobRow } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { holderOf } from "../http/input/holder.ts";
import { requireNoBody } from "../http/body/no-body.ts";
import { readJobId } from "../http/input/params.ts";
import { ProblemError, unknownJob } from "../http/answers/problem.ts";
import { readQuery, refuseQuery } from "../http/input/query.ts";
import { tenantOf } from "../http/input/tenant.ts";
import type { JobRouteDeps } from "../routes/jobs.ts";
import { showOpenQueueJob, statusesOf, wordOf } from "./words.ts";

/** OpenQueue's reads of jobs, and its cancel. */
export function openQueueJobRoutes(deps: JobRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const find = async (c: ApiContext): Promise<JobRow> => {
    refuseQuery(c);
    const id = readJobId(c);
    return (await deps.gate.hold(holderOf(c), 0, () => findJob(deps, tenantOf(c), id))) ?? unknownJob();
  };

  routes.get("/jobs", requires("read"), async (c) => {
    const { queue_name: queue, status, limit, offset } = readQuery(c, openQueueListQuery);
    const filter = { queue, statuses: status && statusesOf(status) };
    const page = await deps.gate.hold(holderOf(c), 0, () => listJobsAt(deps, tenantOf(c), filter, { limit, offset }));
    const items = page.rows.map(showOpenQueueJob);
    return answerJson(c, 200, { items, total: page.total, limit, offset } satisfies OpenQueueJobPage);
  });

  routes.get("/jobs/:id", requires("read"), async (c) => {
    const { id, status } = await find(c);
    return answerJson(c, 200, { job_id: id, status: wordOf(status) } satisfies OpenQueueJobStatus);
  });

  routes.get("/jobs/:id/detail", requires("read"), async (c) => answerJson(c, 200, showOpenQueueJob(await find(c))));

  routes.post("/jobs/:id/cancel", requires("submit"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c);
    await requireNoBody(c);
    const outcome = await deps.gate.hold(holderOf(c), 0, () => cancel(deps, tenantOf(c), id, pending));
    switch (outcome.kind) {
      case "cancelled":
        await deps.followUps.cancelled(outcome.job);
        return answerJson(c, 200, { job_id: id, status: "cancelled" } satisfies OpenQueueJobStatus);
      case "not_cancellable":
        throw new ProblemError("not_found", `The job is not pending: it is ${wordOf(outcome.job.status)}`);
      case "unknown":
        return unknownJob();
      default:
        return outcome satisfies never;
    }
  });

  return routes;
}

const pending = statusesOf("pending");
