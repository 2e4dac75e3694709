import { overview, type Overview } from "@atlasqueue/contract";
import { exampleQueue } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const at = "2030-01-31T12:00:00.000Z";
const example: Overview = {
  at,
  checks: { postgres: "up", redis: "up" },
  counts: exampleQueue.counts,
  queues: 2,
  paused_queues: 0,
  oldest_queued: { queue: "reports", at },
  workers: { count: 3, slots: 30, active: 4, stuck: 0 },
  problems: [
    {
      code: "queue_without_workers",
      severity: "error",
      detail: "Ready jobs wait in a queue that no worker serves: reports",
      queue: "reports",
      count: 1,
      since: at,
    },
  ],
};

export const overviewRoute = route(
  {
    at: "GET /v1/overview",
    id: "getOverview",
    tag: "Statistics",
    summary: "Get the overview",
    description:
      "The tenant's jobs by status, its oldest waiting job, its workers, and `problems`: what a person should look at " +
      "now. Without Redis `workers` is null, and a problem says so. Counts are compared with the jobs themselves once a " +
      "minute, and only while there are few; `atlasqueue doctor` does it for more.",
    scope: "read",
    answers: ok("An empty list of problems means that all is well.", overview, example),
  },
  ({ deps, tenant }) => deps.overviewOf(tenant),
);
