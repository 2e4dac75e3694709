import type { Worker, WorkerList } from "@atlasqueue/contract";
import type { Signal } from "@atlasqueue/core";
import { SignalUnavailableError, type SeenWorker } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiEnv } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { refuseQuery } from "../http/input/query.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type WorkerRouteDeps = { signal: Signal };

/** `GET /workers`: those of the caller's tenant that said within the last seconds that they live. */
export function workerRoutes({ signal }: WorkerRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/workers", requires("read"), async (c) => {
    refuseQuery(c);
    const workers = await signal.presence.list(tenantOf(c)).catch(tellAway);
    return answerJson(c, 200, { items: workers.map(showWorker) } satisfies WorkerList);
  });

  return routes;
}

/** Nobody else knows: an empty list would say that no worker lives. */
function tellAway(error: unknown): never {
  if (!(error instanceof SignalUnavailableError)) throw error;
  const detail = "Workers announce themselves there. Jobs are taken and run all the same";
  throw new ProblemError("signal_unavailable", detail, { headers: { "retry-after": "1" } });
}

function showWorker({ id, host, pid, queues, handlers, concurrency, active, last_seen, state }: SeenWorker): Worker {
  const lists = { queues: [...queues], handlers: [...handlers] };
  return { id, host, pid, ...lists, concurrency, active, last_seen: last_seen.toISOString(), state };
}
