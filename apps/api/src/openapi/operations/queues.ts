import { queue, queueLimits, queueList, queueName } from "@atlasqueue/contract";
import { z } from "zod";
import { exampleQueue } from "../examples.ts";
import { noBody, type Operation } from "../operation.ts";

const name = z.strictObject({ queue: queueName });

/** How the queues stand, and the switch of each. */
export const queueOperations: Operation[] = [
  {
    method: "get",
    path: "/v1/queues",
    id: "listQueues",
    tag: "Queues",
    summary: "List the queues",
    description: "The counts are kept, not counted: this costs the same whatever the history.",
    scope: "read",
    answers: {
      200: {
        description: "Every queue that has had a job, or was paused.",
        schema: queueList,
        example: { items: [exampleQueue] },
      },
    },
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/pause",
    id: "pauseQueue",
    tag: "Queues",
    summary: "Hand out no more jobs of a queue",
    description:
      "What runs goes on running, and jobs are still accepted. Any name may be paused: a queue comes to be with its first job.",
    scope: "admin",
    request: { path: name, body: noBody },
    answers: { 200: { description: "The queue, paused.", schema: queue, example: { ...exampleQueue, paused: true } } },
    problems: ["validation", "too_many_queues"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/resume",
    id: "resumeQueue",
    tag: "Queues",
    summary: "Hand out jobs of a queue again",
    scope: "admin",
    request: { path: name, body: noBody },
    answers: { 200: { description: "The queue, not paused.", schema: queue } },
    problems: ["validation"],
  },
  {
    method: "put",
    path: "/v1/queues/{queue}/limits",
    id: "limitQueue",
    tag: "Queues",
    summary: "Set how many jobs of a queue run at once, and how often one starts",
    description:
      "All limits are set; one that is left out or null is taken away. They are strict, over all workers: never exceeded, " +
      "and a worker that dies keeps its place until its leases are taken back. What runs already runs on. " +
      "`group_concurrency` is one when nothing is set; with more, jobs of a group run side by side, and its order is only " +
      "that in which they start. `rate` allows so many starts within any period; `group_rate` the same for each group.",
    scope: "admin",
    request: {
      path: name,
      body: { schema: queueLimits, example: { concurrency: 7, rate: { limit: 100, period_seconds: 60 } } },
    },
    answers: { 200: { description: "The queue, with its limits.", schema: queue, example: exampleQueue } },
    problems: ["validation", "too_many_queues"],
  },
];
