import { queueRoutes } from "./queues/routes.ts";
import type { Route } from "./route/route.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { workerRoutes } from "./workers/routes.ts";

/** Every route of the API, in the order of the document. */
export const routes: Route[] = [...queueRoutes, ...workerRoutes, ...tokenRoutes];
