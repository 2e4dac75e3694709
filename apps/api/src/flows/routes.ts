import {
  flowActAnswer,
  flowGraph,
  flowPage,
  getFlowQuery,
  jobId,
  listFlowsQuery,
  type Flow,
  type FlowActAnswer,
  describeFields,
} from "@atlasqueue/contract";
import { actOnFlow, afterSome, findFlow, listFlows, viewFlow } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { unknown } from "../http/answers/problem.ts";
import { exampleId, exampleOther } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { ok, pageOf } from "../route/answers.ts";
import { route } from "../route/route.ts";

const flow_by_id = "flow with this id";
const path = describeFields(z.strictObject({ id: jobId }), { id: "The flow's id." });

const created_at = "2030-01-26T12:00:00.000Z";
const exampleFlow: Flow = {
  id: exampleId,
  state: "running",
  created_at,
  finished_at: null,
  jobs: 2,
  counts: { scheduled: 0, blocked: 1, queued: 0, running: 1, failed: 0, succeeded: 0, dead: 0, cancelled: 0 },
};
const aboutJob = {
  queue: "reports",
  attempts: 0,
  max_attempts: 5,
  on_parent_failure: "cancel" as const,
  last_error: null,
  started_at: null,
  finished_at: null,
};

const list = route(
  {
    at: "GET /v1/flows",
    id: "listFlows",
    tag: "Flows",
    summary: "List flows, newest first",
    description:
      "`running`: some jobs are not final. `held`: none of those goes on by itself, as each waits for one that failed. " +
      "When all are final: `failed` if any is dead, otherwise `cancelled` if any is cancelled, otherwise `succeeded`.",
    scope: "read",
    request: { query: listFlowsQuery },
    answers: pageOf(
      flowPage,
      exampleFlow,
      "A page. With a `state` it may be short, even empty, and still have a `next_cursor`; null means there is no more.",
    ),
  },
  async ({ deps, tenant, query: { limit, cursor, ...filter } }) => {
    const page = deps.cursors.page({ list: "flows", tenant, filter }, cursor);
    const { flows, next } = await listFlows(deps, tenant, filter, limit, page.after);
    return { items: flows, next_cursor: page.next(next) };
  },
);

const get = route(
  {
    at: "GET /v1/flows/{id}",
    id: "getFlow",
    tag: "Flows",
    summary: "Get a flow with its jobs",
    description:
      "A page has a thousand jobs, in the order in which they were submitted; one whose jobs wait for very many others " +
      "ends after about 4 MiB. The critical path is the chain of jobs that decided when the flow ended: the " +
      "job that ended last, its parent that ended last, and so on. It is null for a flow of more than one page.",
    scope: "read",
    request: { path, query: getFlowQuery },
    // Whatever its jobs wait for: as much as a page of jobs may be.
    answers: ok("The flow.", flowGraph, {
      ...exampleFlow,
      items: [
        { ...aboutJob, id: exampleId, ref: "load", type: "sales.load", status: "running", depends_on: [] },
        {
          ...aboutJob,
          id: exampleOther,
          ref: "sum",
          type: "sales.sum",
          status: "blocked",
          depends_on: [exampleId],
        },
      ],
      next_cursor: null,
      critical_path: [exampleId, exampleOther],
    }),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id }, query: { cursor } }) => {
    const page = deps.cursors.page({ list: "flow", tenant, filter: { id } }, cursor);
    const found = await viewFlow(deps, tenant, id, page.after === undefined ? undefined : Number(page.after));
    const { next, ...flow } = found ?? unknown(flow_by_id);
    return { ...flow, next_cursor: page.next(next?.toString()) };
  },
);

const tellChanged = (_input: unknown, { changed }: FlowActAnswer) => ({ count: changed });
const underKey = "Sent again with the same `Idempotency-Key`, it changes nothing more.";

const acting = (action: "cancel" | "retry", summary: string, description: string, done: string) =>
  route(
    {
      at: `POST /v1/flows/{id}/${action}`,
      id: `${action}Flow`,
      audit: { action: `flow.${action}`, tells: tellChanged },
      tag: "Flows",
      summary,
      description: `${description} ${underKey}`,
      scope: "submit",
      request: { path, idempotency_key: "optional", body: noBody },
      answers: ok(done, flowActAnswer),
      problems: ["not_found"],
    },
    async ({ deps, tenant, path: { id }, repeated }) => {
      if (!(await findFlow(deps, tenant, id))) unknown(flow_by_id);
      const changed = repeated ? 0 : await actOnFlow(deps, tenant, id, action);
      const flow = await findFlow(deps, tenant, id).catch(afterSome(changed > 0));
      return { changed, flow: flow ?? unknown(flow_by_id) };
    },
  );

const cancel = acting(
  "cancel",
  "Cancel a flow",
  "All of its jobs that are not final. Leases of running jobs end, and their handlers are aborted.",
  "How many it cancelled.",
);
const retry = acting(
  "retry",
  "Retry a flow",
  "What succeeded stays as it is. Jobs that were cancelled because of one that failed wait for it again, and are " +
    "not counted.",
  "How many it retried.",
);

/** Jobs that wait for one another, as a whole: their state, their graph, cancelling and retrying. */
export const flowRoutes = [list, get, cancel, retry];
