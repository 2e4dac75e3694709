import { queueName, queueScaling as schema, type QueueScaling } from "@atlasqueue/contract";
import { queueScaling } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const example: QueueScaling = {
  queue: "mails",
  ready: 12,
  running: 4,
  backlog: 16,
  oldest_ready_seconds: 8.4,
  workers: 3,
  slots: 30,
};

export const scaling = route(
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
    request: { path: z.strictObject({ queue: queueName }) },
    answers: ok("Its figures now.", schema, example),
  },
  ({ deps, tenant, path: { queue } }) => queueScaling(deps, { tenant, queue }),
);
