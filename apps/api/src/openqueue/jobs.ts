import { limits, openQueueJob, openQueueJobPage, openQueueJobStatus, openQueueListQuery } from "@atlasqueue/contract";
import { cancel as cancelJob, findJob, listJobsAt } from "@atlasqueue/core/internal/http";
import { ProblemError, unknownJob } from "../http/answers/problem.ts";
import { refused } from "../jobs/refused.ts";
import { exampleId, exampleOpenQueueJob } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { showOpenQueueJob, statusesOf, words } from "./words.ts";

const reads = { tag: "OpenQueue", scope: "read" } as const;

export const list = route(
  {
    ...reads,
    at: "GET /jobs",
    id: "openQueueListJobs",
    summary: "List jobs, newest first",
    description:
      "For anything beyond the last offset, `/v1/jobs` has a cursor. A page of large jobs ends after about 4 MiB: the next " +
      "one begins at `offset` plus the number of its items.",
    request: { query: openQueueListQuery },
    answers: ok("A page; `total` counts everything the filter matches, on every page.", openQueueJobPage, {
      items: [exampleOpenQueueJob],
      total: 1,
      limit: limits.list_items_default,
      offset: 0,
    }),
  },
  async ({ deps, tenant, query: { queue_name: queue, status, limit, offset } }) => {
    const filter = { queue, statuses: status && statusesOf(status) };
    const { rows, total } = await listJobsAt(deps, tenant, filter, { limit, offset });
    return { items: rows.map(showOpenQueueJob), total, limit, offset };
  },
);

export const getStatus = route(
  {
    ...reads,
    at: "GET /jobs/{id}",
    id: "openQueueGetJobStatus",
    summary: "Get a job's status",
    request: { path: jobPath },
    answers: ok("Its status, in OpenQueue's words.", openQueueJobStatus, { job_id: exampleId, status: "pending" }),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id } }) => {
    const { status } = (await findJob(deps, tenant, id)) ?? unknownJob();
    return { job_id: id, status: words[status] };
  },
);

export const getDetail = route(
  {
    ...reads,
    at: "GET /jobs/{id}/detail",
    id: "openQueueGetJob",
    summary: "Get a job",
    request: { path: jobPath },
    answers: ok("The job.", openQueueJob, exampleOpenQueueJob),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id } }) => showOpenQueueJob((await findJob(deps, tenant, id)) ?? unknownJob()),
);

export const cancel = route(
  {
    tag: "OpenQueue",
    at: "POST /jobs/{id}/cancel",
    id: "openQueueCancelJob",
    audit: { action: "job.cancel" },
    summary: "Cancel a pending job",
    description: "One that is not pending is not found, as OpenQueue has it.",
    scope: "submit",
    request: { path: jobPath, body: noBody },
    answers: ok("The job is cancelled.", openQueueJobStatus, { job_id: exampleId, status: "cancelled" }),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id } }) => {
    const outcome = await cancelJob(deps, tenant, id, pending);
    if (outcome.kind === "not_cancellable")
      throw new ProblemError("not_found", `The job is not pending: it is ${words[outcome.job.status]}`);
    if (outcome.kind !== "cancelled") return refused(outcome);
    await deps.followUps.cancelled([outcome.job], outcome.ready);
    return { job_id: id, status: "cancelled" };
  },
);

const pending = statusesOf("pending");
