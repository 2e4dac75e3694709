import {
  heldGroupPage,
  listHeldGroupsQuery,
  listQueuesQuery,
  type HeldGroup,
  oneQueue,
  queue as queueSchema,
  queueDefaults,
  queueLimits,
  queuePage,
  queueScaling as queueScalingSchema,
  type JsonObject,
  type Queue,
  type QueueScaling,
} from "@atlasqueue/contract";
import { pauseQueue, setLimits, type QueueRef } from "@atlasqueue/core/internal";
import {
  heldGroups,
  queueScaling,
  queueStats,
  resumeQueue,
  setDefaults as storeQueueDefaults,
} from "@atlasqueue/core/internal/http";
import { ProblemError } from "../http/answers/problem.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleId, exampleQueue } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { ok, pageOf } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { changed, path, showQueue } from "./changed.ts";

const reads = { tag: "Queues", scope: "read" } as const;

const underKey =
  "Sent again with the same `Idempotency-Key`, it changes nothing more: the answer is the queue as it is then.";

const exampleGroup: HeldGroup = {
  group: "customer-17",
  held_by: {
    id: exampleId,
    type: "mail.send",
    status: "running",
    worker_id: "worker-1",
    since: "2030-01-31T12:00:00.000Z",
  },
  blocked: 12,
  blocked_complete: true,
};

const listQueues = route(
  {
    ...reads,
    at: "GET /v1/queues",
    id: "listQueues",
    summary: "List queues",
    description: "The counts are kept, not counted: this costs the same whatever the history.",
    request: { query: listQueuesQuery },
    answers: pageOf(
      queuePage,
      exampleQueue,
      "A page of the queues that have jobs or settings, in the order of their names.",
    ),
  },
  async ({ deps, tenant, query: { limit, cursor } }) => {
    const page = deps.cursors.page({ list: "queues", tenant, filter: {} }, cursor);
    const found = await queueStats(deps, tenant, { after: page.after, limit: limit + 1 });
    const items = found.slice(0, limit).map(showQueue);
    const last = found.length > limit ? items.at(-1)?.queue : undefined;
    return { items, next_cursor: page.next(last) };
  },
);

const getQueue = route(
  {
    ...reads,
    at: "GET /v1/queues/{queue}",
    id: "getQueue",
    summary: "Get a queue",
    description: "With how many of its jobs started within the period of its rate.",
    request: { path },
    answers: ok("The queue.", oneQueue, { ...exampleQueue, starts: 83 }),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { queue } }) => {
    const [stats] = await queueStats(deps, tenant, { queue });
    if (!stats) throw new ProblemError("not_found", "There is no queue of this name: it has neither jobs nor settings");
    return { ...showQueue(stats), starts: stats.starts };
  },
);

const toggle = (
  what: "pause" | "resume",
  description: string,
  example: Queue,
  apply: (deps: RouteDeps, ref: QueueRef) => Promise<unknown>,
) =>
  route(
    {
      at: `POST /v1/queues/{queue}/${what}`,
      id: `${what}Queue`,
      audit: { action: `queue.${what}` },
      tag: "Queues",
      summary: `${what === "pause" ? "Pause" : "Resume"} a queue`,
      description: description + underKey,
      scope: "admin",
      request: { path, idempotency_key: "optional", body: noBody },
      answers: ok(`The queue, ${what}d.`, queueSchema, example),
      problems: what === "pause" ? ["too_many_queues"] : [],
    },
    (call) => changed(call, (ref) => apply(call.deps, ref)),
  );

const pause = toggle(
  "pause",
  "No more of its jobs are leased. Running jobs go on, and jobs are still accepted. You can pause any name. ",
  { ...exampleQueue, paused: true },
  async (deps, ref) => {
    await deps.queueBound.admit(ref.tenant, [ref.queue]);
    await pauseQueue(deps, ref);
  },
);
const resume = toggle("resume", "Its jobs are leased again. ", exampleQueue, resumeQueue);

const limitQueue = route(
  {
    at: "PUT /v1/queues/{queue}/limits",
    id: "limitQueue",
    audit: { action: "queue.limits", asks: ({ body }: { body: JsonObject }) => ({ detail: body }) },
    tag: "Queues",
    summary: "Set queue limits",
    description:
      "All limits are set; one left out or null is removed. They are strict across all workers: never exceeded, " +
      "and a dead worker's jobs count until their leases expire. Running jobs go on. " +
      "`group_concurrency` is one by default; with more, jobs of a group run at the same time, and its order is only " +
      "the order in which they start. `rate` limits the starts within any period; `group_rate` does so for each group. " +
      "With `fair_by` the queue serves its groups round-robin, not the oldest job first; not together with `concurrency`, " +
      "`rate` or `group_rate`.",
    scope: "admin",
    request: {
      path,
      body: {
        schema: queueLimits,
        example: { concurrency: 7, rate: { limit: 100, period_seconds: 60 } },
      },
    },
    answers: ok("The queue, with its limits.", queueSchema, exampleQueue),
    problems: ["too_many_queues"],
  },
  (call) =>
    changed(call, async (ref) => {
      await call.deps.queueBound.admit(ref.tenant, [ref.queue]);
      call.deps.followUps.limitsChanged(ref, await setLimits(call.deps, ref, call.body));
    }),
);

const setDefaults = route(
  {
    at: "PUT /v1/queues/{queue}/defaults",
    id: "setQueueDefaults",
    audit: { action: "queue.defaults", asks: ({ body }: { body: JsonObject }) => ({ detail: body }) },
    tag: "Queues",
    summary: "Set queue defaults",
    description:
      "Jobs of the queue have these values where their submission names none of its own. All defaults are set; one left " +
      "out or null is removed. They hold for jobs that are submitted from now on.",
    scope: "admin",
    request: {
      path,
      body: {
        schema: queueDefaults,
        example: { max_attempts: 3, timeout_seconds: 60 },
      },
    },
    answers: ok("The queue, with its defaults.", queueSchema, exampleQueue),
    problems: ["too_many_queues"],
  },
  (call) =>
    changed(call, async (ref) => {
      await call.deps.queueBound.admit(ref.tenant, [ref.queue]);
      await storeQueueDefaults(call.deps, ref, call.body);
    }),
);

const groups = route(
  {
    ...reads,
    at: "GET /v1/queues/{queue}/groups",
    id: "listHeldGroups",
    summary: "List groups in progress",
    description:
      "With the job whose turn it is, since when, and how many wait. Groups with `group_concurrency` over 1 are not listed.",
    request: { path, query: listHeldGroupsQuery },
    answers: pageOf(heldGroupPage, exampleGroup, "A page, ordered by name."),
  },
  async ({ deps, tenant, path: { queue }, query: { limit, cursor } }) => {
    const page = deps.cursors.page({ list: "held groups", tenant, filter: { queue } }, cursor);
    const found = await heldGroups(deps, { tenant, queue }, page.after ?? "", limit + 1);
    const items = found.slice(0, limit);
    const last = found.length > limit ? items.at(-1)?.group : undefined;
    return { items, next_cursor: page.next(last) };
  },
);

const exampleScaling: QueueScaling = {
  queue: "mails",
  ready: 12,
  running: 4,
  backlog: 16,
  oldest_ready_seconds: 8.4,
  workers: 3,
  slots: 30,
};

const scaling = route(
  {
    at: "GET /v1/queues/{queue}/scaling",
    id: "getQueueScaling",
    tag: "Queues",
    summary: "Get a queue's figures for autoscaling",
    description:
      "Flat, for KEDA's `metrics-api` scaler. `backlog` and `oldest_ready_seconds` leave out what more workers could not " +
      "help: both are as if nothing waited while the queue is paused or its `concurrency` or `rate` is used up. A queue " +
      "without jobs is all zeros, not a 404. The counts are kept: this costs the same whatever the backlog.",
    scope: ["read", "metrics"],
    request: { path },
    answers: ok("Its figures now.", queueScalingSchema, exampleScaling),
  },
  ({ deps, tenant, path: { queue } }) => queueScaling(deps, { tenant, queue }),
);

/** The state of the queues, and the switch, the limits and the defaults of each. */
export const queueRoutes = [listQueues, getQueue, pause, resume, limitQueue, setDefaults, groups, scaling];
