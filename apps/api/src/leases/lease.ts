import { leaseAnswer, leaseRequest, queueName, type LeaseAnswer } from "@atlasqueue/contract";
import { showJob, type LeasedJob } from "@atlasqueue/core/internal";
import { z } from "zod";
import { exampleJob, exampleLockedUntil, exampleToken } from "../route/examples.ts";
import { route } from "../route/route.ts";

const exampleLease: LeaseAnswer["jobs"][number] = {
  job: { ...exampleJob, status: "running", attempts: 1, worker_id: "worker-1" },
  lease_token: exampleToken,
  locked_until: exampleLockedUntil,
};

export const lease = route(
  {
    method: "post",
    path: "/v1/queues/{queue}/lease",
    id: "leaseJobs",
    tag: "Work",
    summary: "Lease jobs of a queue",
    description:
      "With `wait_seconds` it waits for a job when there is none. A leased job is the worker's until `locked_until`; " +
      "a worker that needs longer sends heartbeats, and a job neither settled nor renewed in time goes to another worker.",
    scope: "work",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: leaseRequest, example: { worker_id: "worker-1", max_jobs: 10, wait_seconds: 20 } },
    },
    // It waits for jobs, and the long poll has its own bound.
    gate: "own",
    answers: {
      200: {
        description: "The leased jobs; empty if there were none in time.",
        schema: leaseAnswer,
        example: { jobs: [exampleLease] },
      },
    },
    problems: [],
  },
  async ({ deps: { longPoll }, tenant, path: { queue }, body, trace, hungUp, ifUndelivered }) => {
    const { max_jobs, wait_seconds, ...claimer } = body;
    const wish = { ...claimer, tenant, queue, jobs_max: max_jobs, wait_ms: wait_seconds * 1_000, trace };
    const leases = await longPoll.lease(wish, hungUp());
    // With no attempt spent: no one knows of them.
    ifUndelivered(() => longPoll.undelivered(leases));
    return { jobs: leases.map(showLease) };
  },
);

function showLease(row: LeasedJob): LeaseAnswer["jobs"][number] {
  return { job: showJob(row), lease_token: row.lease_token, locked_until: row.locked_until.toISOString() };
}
