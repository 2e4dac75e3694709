import type { Operation } from "../operation.ts";
import { dlqOperations } from "./dlq.ts";
import { documentOperations } from "./document.ts";
import { healthOperations } from "./health.ts";
import { jobOperations } from "./jobs.ts";
import { leaseOperations } from "./leases.ts";
import { openQueueOperations } from "./openqueue.ts";
import { openQueueLeaseOperations } from "./openqueue-leases.ts";
import { queueOperations } from "./queues.ts";
import { scheduleOperations } from "./schedules.ts";
import { tokenOperations } from "./tokens.ts";
import { workerOperations } from "./workers.ts";

/** Every operation of the API. A test holds them and the routes together. */
export const operations: Operation[] = [
  ...jobOperations,
  ...leaseOperations,
  ...queueOperations,
  ...workerOperations,
  ...dlqOperations,
  ...scheduleOperations,
  ...tokenOperations,
  ...openQueueOperations,
  ...openQueueLeaseOperations,
  ...healthOperations,
  ...documentOperations,
];
