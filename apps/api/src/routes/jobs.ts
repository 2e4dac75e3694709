import {
  getJobQuery,
  isFinal,
  listJobsQuery,
  type AttemptList,
  type Explanation,
  type JobPage,
} from "@atlasqueue/contract";
import type { Signal } from "@atlasqueue/core";
import {
  cancel,
  explainJob,
  findJob,
  listAttempts,
  listJobs,
  retry,
  showJob,
  type Deps,
  type FinishedWaits,
  type FollowUps,
  type JobRow,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { CursorOf, Cursors } from "../http/input/cursor.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { hangUpOf } from "../http/input/hang-up.ts";
import { requireNoBody } from "../http/body/no-body.ts";
import { readJobId } from "../http/input/params.ts";
import { ProblemError, unknownJob } from "../http/answers/problem.ts";
import { readQuery, refuseQuery } from "../http/input/query.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type JobRouteDeps = Deps & {
  signal: Signal;
  gate: Gate;
  cursors: Cursors;
  finishedWaits: FinishedWaits;
  followUps: FollowUps;
};

/** Jobs as people see them and what they do with them: list, look, wait, cancel, retry. */
export function jobRoutes(deps: JobRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const find = async (c: ApiContext, id: string): Promise<JobRow> =>
    (await deps.gate.hold(holderOf(c), 0, () => findJob(deps, tenantOf(c), id))) ?? unknownJob();

  routes.get("/jobs", requires("read"), async (c) => {
    const { limit, cursor, ...filter } = readQuery(c, listJobsQuery);
    const of: CursorOf = { list: "jobs", tenant: tenantOf(c), filter };
    const below = deps.cursors.read(of, cursor);
    const { rows, next } = await deps.gate.hold(holderOf(c), 0, () =>
      listJobs(deps, tenantOf(c), filter, limit, below),
    );
    const next_cursor = next === undefined ? null : deps.cursors.write(of, next);
    return answerJson(c, 200, { items: rows.map(showJob), next_cursor } satisfies JobPage);
  });

  routes.get("/jobs/:id", requires("read"), async (c) => {
    const id = readJobId(c);
    const { wait_seconds } = readQuery(c, getJobQuery);
    if (wait_seconds === 0) return answerJson(c, 200, showJob(await find(c, id)));
    const over = new AbortController();
    const finished = deps.finishedWaits.until(
      { tenant: tenantOf(c), id },
      wait_seconds * 1_000,
      AbortSignal.any([over.signal, hangUpOf(c)]),
    );
    try {
      const job = await find(c, id);
      if (isFinal(job.status)) return answerJson(c, 200, showJob(job));
      await finished;
    } finally {
      over.abort();
    }
    return answerJson(c, 200, showJob(await find(c, id)));
  });

  routes.get("/jobs/:id/attempts", requires("read"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c);
    const items = await deps.gate.hold(holderOf(c), 0, () => listAttempts(deps, tenantOf(c), id));
    return answerJson(c, 200, { items: items ?? unknownJob() } satisfies AttemptList);
  });

  routes.get("/jobs/:id/explain", requires("read"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c);
    const explanation = await deps.gate.hold(holderOf(c), 0, () => explainJob(deps, tenantOf(c), id));
    return answerJson(c, 200, (explanation ?? unknownJob()) satisfies Explanation);
  });

  routes.post("/jobs/:id/cancel", requires("submit"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c);
    await requireNoBody(c);
    const outcome = await deps.gate.hold(holderOf(c), 0, () => cancel(deps, tenantOf(c), id));
    switch (outcome.kind) {
      case "cancelled":
        await deps.followUps.cancelled(outcome.job);
        return answerJson(c, 200, showJob(outcome.job));
      case "not_cancellable":
        throw new ProblemError("job_finished", `The job is ${outcome.job.status} already`);
      case "unknown":
        return unknownJob();
      default:
        return outcome satisfies never;
    }
  });

  routes.post("/jobs/:id/retry", requires("submit"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c);
    await requireNoBody(c);
    const outcome = await deps.gate.hold(holderOf(c), 0, () => retry(deps, tenantOf(c), id));
    switch (outcome.kind) {
      case "retried":
        await deps.followUps.retried({
          ready: outcome.job.status === "queued" ? [outcome.job] : [],
          were_dead: outcome.was_dead ? [id] : [],
        });
        return answerJson(c, 200, showJob(outcome.job));
      case "not_retryable":
        throw new ProblemError("not_retryable", `The job is ${outcome.job.status}`);
      case "unknown":
        return unknownJob();
      default:
        return outcome satisfies never;
    }
  });

  return routes;
}
