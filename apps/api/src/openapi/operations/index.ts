import type { Operation } from "../../route/operation.ts";
import { routes } from "../../routes.ts";
import { dlqOperations } from "./dlq.ts";
import { documentOperations } from "./document.ts";
import { healthOperations } from "./health.ts";
import { jobOperations } from "./jobs.ts";
import { leaseOperations } from "./leases.ts";
import { openQueueOperations } from "./openqueue.ts";
import { openQueueLeaseOperations } from "./openqueue-leases.ts";
import { scheduleOperations } from "./schedules.ts";

/** Every operation of the API. A test holds them and the routes together. */
export const operations: Operation[] = [
  ...routes.map(({ operation }) => operation),
  ...jobOperations,
  ...leaseOperations,
  ...dlqOperations,
  ...scheduleOperations,
  ...openQueueOperations,
  ...openQueueLeaseOperations,
  ...healthOperations,
  ...documentOperations,
];
