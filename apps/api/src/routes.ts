import { deadLetterRoutes } from "./dead-letters/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { replayRoutes } from "./dead-letters/replays.ts";
import { docsRoutes } from "./docs/routes.ts";
import { flowRoutes } from "./flows/routes.ts";
import { healthRoutes } from "./health/routes.ts";
import { operationRoutes } from "./operations/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { leaseRoutes } from "./leases/routes.ts";
import { openQueueRoutes } from "./openqueue/routes.ts";
import { queueRoutes } from "./queues/routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import type { Route } from "./route/route.ts";
import { scheduleRoutes } from "./schedules/routes.ts";
import { stepRoutes } from "./steps/routes.ts";
import { statsRoutes } from "./stats/routes.ts";
import { sessionRoutes } from "./session/routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { workerRoutes } from "./workers/routes.ts";

/** Every route of the API, in the document's order. */
export const routes: readonly Route[] = [
  ...jobRoutes,
  ...operationRoutes,
  ...flowRoutes,
  ...leaseRoutes,
  ...stepRoutes,
  ...queueRoutes,
  ...workerRoutes,
  ...deadLetterRoutes,
  ...replayRoutes,
  ...scheduleRoutes,
  ...statsRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...mcpRoutes,
  ...sessionRoutes,
  ...openQueueRoutes,
  ...healthRoutes,
  ...docsRoutes,
];

/** Their descriptions, without what they do. */
export const operations = routes.map(({ operation }) => operation);
