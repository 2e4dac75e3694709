import { queue, queueList, queueName } from "@atlasqueue/contract";
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
    problems: ["validation"],
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
];
