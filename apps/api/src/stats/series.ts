import {
  statsSeries,
  statsSeriesQuery,
  type StatsSeries,
  throughput,
  throughputQuery,
  type Throughput,
} from "@atlasqueue/contract";
import { readSeries, readThroughput } from "@atlasqueue/core/internal/http";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

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
    at: "GET /v1/stats/series",
    id: "getStatsSeries",
    tag: "Statistics",
    summary: "Get statistics over time",
    description:
      "Of all the tenant's jobs, of a queue, of a type, or of a type in a queue: 15 or 60 steps of a minute, 96 of a " +
      "quarter of an hour, or 180 of four hours. The last step is under way: it has lasted until `to`. Numbers arrive up " +
      "to five seconds late, and a process that crashes takes those of its last five seconds with it. Percentiles come " +
      "from buckets, and are at most 9 % off. A tenant's types beyond the hundredth in an hour are counted as `other`. " +
      "Minutes are kept for two days, hours for thirty.",
    scope: "read",
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
    at: "GET /v1/stats/throughput",
    id: "getThroughput",
    tag: "Statistics",
    summary: "Get the throughput of queues in the last hour",
    description:
      "For a small chart of each: jobs that were submitted, jobs that succeeded and attempts that failed, in 20 steps of " +
      "three minutes, the last of which is under way. A queue without jobs has zeros.",
    scope: "read",
    request: { query: throughputQuery },
    answers: ok("The queues, in the order asked for.", throughput, exampleThroughput),
  },
  ({ deps, tenant, query: { queues } }) => readThroughput(deps, tenant, queues),
);
