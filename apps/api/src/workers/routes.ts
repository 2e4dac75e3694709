import { workerList, type Worker } from "@atlasqueue/contract";
import { SignalUnavailableError, type SeenWorker } from "@atlasqueue/core/internal";
import { temporary } from "../http/answers/problem.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

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
  started_at: "2030-01-31T09:00:00.000Z",
  version: "1.0.0",
  memory_bytes: 120_000_000,
  jobs_per_minute: 340,
};

const listWorkers = route(
  {
    at: "GET /v1/workers",
    id: "listWorkers",
    tag: "Queues",
    summary: "List workers",
    description:
      "Those that announced themselves in Redis within the last five seconds. Workers that lease over HTTP announce nothing.",
    scope: "read",
    // It asks only Redis.
    gate: "own",
    answers: ok("The tenant's workers.", workerList, { items: [exampleWorker] }),
    problems: ["signal_unavailable"],
  },
  async ({ deps, tenant }) => {
    const workers = await deps.signal.presence.list(tenant).catch(tellAway);
    return { items: workers.map(showWorker) };
  },
);

export const workerRoutes = [listWorkers];

/** Only Redis knows: an empty list would mean that no worker is alive. */
function tellAway(error: unknown): never {
  if (!(error instanceof SignalUnavailableError)) throw error;
  const detail = "Workers announce themselves there. Jobs are taken and run all the same";
  throw temporary("signal_unavailable", detail);
}

function showWorker({ tenant: _tenant, lease_seconds: _lease_seconds, ...worker }: SeenWorker): Worker {
  const { started_at = null, version = null, memory_bytes = null, jobs_per_minute = null } = worker;
  const lists = { queues: [...worker.queues], handlers: [...worker.handlers] };
  const more = { started_at, version, memory_bytes, jobs_per_minute };
  return { ...worker, ...lists, ...more, last_seen: worker.last_seen.toISOString() };
}
