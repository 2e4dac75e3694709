import { leaseAnswer, leaseRequest, queueName } from "@atlasqueue/contract";
import { z } from "zod";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { exampleLease, holdsOf, releaseIfGone, showLeases } from "./show-leases.ts";

export const lease = route(
  {
    at: "POST /v1/queues/{queue}/lease",
    id: "leaseJobs",
    tag: "Leases",
    summary: "Lease jobs of a queue",
    description:
      "With `wait_seconds` it waits for a job when there is none. A leased job is the worker's until `locked_until`; " +
      "a worker that needs longer sends heartbeats, and a job neither settled nor renewed in time goes to another worker. " +
      "One that waited for others comes with their results, as when it is read; of all jobs together no more than about " +
      "1 MiB of them, and as much of its steps and signals.\n\n" +
      "If no response comes, repeat the request with the same `lease_token`: it returns at once the jobs that are still leased " +
      "under it, with `repeated: true`. A token leases once, so make a fresh UUID for each new request. Without one, the jobs of " +
      "a lost response come back when their leases end, and the attempt counts.\n\n" +
      "A response may be late. By the worker's own clock its jobs are held until `waited_ms` plus `remaining_ms` after it sent " +
      "the request. With less than half of the lease left, send a heartbeat before the work, and don't start on 409.\n\n" +
      "With `types` only jobs of these types are leased; others stay in the queue, in their order, for other workers.",
    scope: "work",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: leaseRequest, example: { worker_id: "worker-1", max_jobs: 10, wait_seconds: 20 } },
    },
    // It waits for jobs, and the long poll has its own bound.
    gate: "own",
    hands_over: true,
    answers: ok("The leased jobs; empty if there were none in time.", leaseAnswer, {
      jobs: [exampleLease],
      waited_ms: 1_250,
      remaining_ms: 30_000,
      repeated: false,
    }),
    problems: ["lease_token_used"],
  },
  async (call) => {
    const { deps, tenant, path, body, trace, hungUp } = call;
    const { max_jobs, wait_seconds, ...claimer } = body;
    const came_at = performance.now();
    const wait_ms = Math.min(wait_seconds, body.lease_seconds / 3) * 1_000;
    const wanted = { ...claimer, ...path, tenant, jobs_max: max_jobs, wait_ms, trace };
    const handed = await deps.longPoll.lease(wanted, hungUp());
    const jobs = await showLeases(deps, tenant, handed.jobs);
    releaseIfGone(call, handed, body.lease_token);
    return { jobs, ...holdsOf(handed, came_at) };
  },
);
