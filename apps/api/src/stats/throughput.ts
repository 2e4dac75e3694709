import { throughput, throughputQuery, type Throughput } from "@atlasqueue/contract";
import { readThroughput } from "@atlasqueue/core/internal/http";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const steps = (jobs: number) => Array.from({ length: 20 }, () => jobs);

const example: Throughput = {
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
    answers: ok("The queues, in the order asked for.", throughput, example),
  },
  ({ deps, tenant, query: { queues } }) => readThroughput(deps, tenant, queues),
);
