import {
  statsSeries,
  statsSeriesQuery,
  type StatsSeries,
  throughput,
  throughputQuery,
  type Throughput,
  overview,
  type Overview,
} from "@atlasqueue/contract";
import { readSeries, readThroughput } from "@atlasqueue/core/internal/http";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { exampleQueue } from "../route/examples.ts";

const reads = { tag: "Statistics", scope: "read" } as const;

const at = "2030-01-31T12:00:00.000Z";
const figures = {
  submitted: 120,
  succeeded: 118,
  failed: 3,
  dead: 1,
  retried: 2,
  wait: { count: 121, p50_ms: 4.36, p95_ms: 24.7, p99_ms: 98.7 },
  run: { count: 121, p50_ms: 83, p95_ms: 279, p99_ms: 790 },
};
const example: StatsSeries = {
  window: "1h",
  step_seconds: 60,
  from: at,
  to: "2030-01-31T12:00:31.412Z",
  items: [{ at, ...figures }],
  total: figures,
};

export const series = route(
  {
    ...reads,
    at: "GET /v1/stats/series",
    id: "getStatsSeries",
    summary: "Get statistics over time",
    description:
      "Of all the tenant's jobs, of a queue, of a type, or of a type in a queue: 15 or 60 steps of a minute, 96 of a " +
      "quarter of an hour, or 180 of four hours. The last step is under way: it has lasted until `to`. Numbers arrive up " +
      "to five seconds late, and a process that crashes takes those of its last five seconds with it. Percentiles come " +
      "from buckets, and are at most 9 % off. A tenant's types beyond the hundredth in an hour are counted as `other`. " +
      "Minutes are kept for two days, hours for thirty.",
    request: { query: statsSeriesQuery },
    answers: ok("The steps, oldest first, without gaps.", statsSeries, example),
  },
  ({ deps, tenant, query }) => readSeries(deps, tenant, query),
);

const steps = (jobs: number) => Array.from({ length: 20 }, () => jobs);

const exampleThroughput: Throughput = {
  step_seconds: 180,
  from: "2030-01-31T12:00:00.000Z",
  items: [{ queue: "mails", submitted: steps(122), succeeded: steps(120), failed: steps(3) }],
};

export const throughputRoute = route(
  {
    ...reads,
    at: "GET /v1/stats/throughput",
    id: "getThroughput",
    summary: "Get the throughput of queues in the last hour",
    description:
      "For a small chart of each: jobs that were submitted, jobs that succeeded and attempts that failed, in 20 steps of " +
      "three minutes, the last of which is under way. A queue without jobs has zeros.",
    request: { query: throughputQuery },
    answers: ok("The queues, in the order asked for.", throughput, exampleThroughput),
  },
  ({ deps, tenant, query: { queues } }) => readThroughput(deps, tenant, queues),
);

const exampleOverview: Overview = {
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
    ...reads,
    at: "GET /v1/overview",
    id: "getOverview",
    summary: "Get the overview",
    description:
      "The tenant's jobs by status, its oldest waiting job, its workers, and `problems`: what a person should look at " +
      "now. Without Redis `workers` is null, and a problem says so. Counts are compared with the jobs themselves once a " +
      "minute, and only while there are few; `atlasqueue doctor` does it for more.",
    answers: ok("An empty list of problems means that all is well.", overview, exampleOverview),
  },
  ({ deps, tenant }) => deps.overviewOf(tenant),
);
