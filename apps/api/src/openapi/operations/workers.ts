import { workerList, type Worker } from "@atlasqueue/contract";
import type { Operation } from "../operation.ts";

const exampleWorker: Worker = {
  id: "box-17-4fa2c1",
  host: "box",
  pid: 17,
  queues: ["mails"],
  handlers: ["email.send"],
  concurrency: 10,
  active: 4,
  last_seen: "2030-01-31T12:00:00.000Z",
  state: "running",
};

/** Who runs the jobs. */
export const workerOperations: Operation[] = [
  {
    method: "get",
    path: "/v1/workers",
    id: "listWorkers",
    tag: "Queues",
    summary: "List the workers that live",
    description:
      "Those that said so within the last five seconds, in Redis. Workers that lease over HTTP announce nothing.",
    scope: "read",
    answers: {
      200: { description: "The tenant's workers.", schema: workerList, example: { items: [exampleWorker] } },
    },
    problems: ["validation", "signal_unavailable"],
  },
];
