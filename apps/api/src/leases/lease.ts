import { leaseAnswer, leaseRequest, queueName, type LeaseAnswer } from "@atlasqueue/contract";
import { returnable } from "@atlasqueue/core/internal";
import { z } from "zod";
import { route } from "../route/route.ts";
import { exampleLease, heldFrom, showLeases } from "./show-leases.ts";

const none: LeaseAnswer = { jobs: [] };

export const lease = route(
  {
    method: "post",
    path: "/v1/queues/{queue}/lease",
    id: "leaseJobs",
    tag: "Work",
    summary: "Lease jobs of a queue",
    description:
      "With `wait_seconds` it waits for a job when there is none. A leased job is the worker's until `locked_until`; " +
      "a worker that needs longer sends heartbeats, and a job neither settled nor renewed in time goes to another worker. " +
      "One that waited for others comes with their results, as when it is read; of all jobs together no more than about " +
      "1 MiB of them, and as much of its steps and signals.\n\n" +
      "Should the answer be lost on its way, its jobs come back when their leases end, one attempt poorer. A worker that " +
      "sends a `lease_token` of its own, a fresh UUID for each request, gives them back with `POST /v1/leases/release` " +
      "instead, with no attempt spent. No proxy on the way may send the call again by itself: it leases nothing the second " +
      "time.\n\n" +
      "It may also be late. `waited_ms` says how long the call had waited when the lease was asked for, at least: by the " +
      "worker's own clock its jobs are held for `lease_seconds` from when it sent the call plus that. Where much of it is " +
      "over, a heartbeat comes before the work.",
    scope: "work",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: leaseRequest, example: { worker_id: "worker-1", max_jobs: 10, wait_seconds: 20 } },
    },
    // It waits for jobs, and the long poll has its own bound.
    gate: "own",
    hands_over: true,
    answers: {
      200: {
        description: "The leased jobs; empty if there were none in time.",
        schema: leaseAnswer,
        example: { jobs: [exampleLease], waited_ms: 1_250 },
      },
    },
    problems: ["lease_token_used"],
  },
  async ({ deps, tenant, path: { queue }, body, trace, hungUp, ifUndelivered }) => {
    const { max_jobs, wait_seconds, ...claimer } = body;
    const came_at = performance.now();
    const wish = { ...claimer, tenant, queue, jobs_max: max_jobs, wait_ms: wait_seconds * 1_000, trace };
    const { longPoll } = deps;
    const leases = await longPoll.lease(wish, hungUp());
    if (leases.length === 0) return none;
    // With no attempt spent: no one knows of them.
    const held = leases.map(returnable);
    ifUndelivered(() => void longPoll.returns.giveBack(held));
    // Never too long: the worker reckons by it until when the jobs are its own.
    const waited_ms = Math.floor(Math.max(0, heldFrom(leases) - came_at));
    const jobs = await showLeases(deps, tenant, leases, claimer);
    return jobs.length === 0 ? none : { jobs, waited_ms };
  },
);
