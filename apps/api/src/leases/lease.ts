import { leaseAnswer, leaseRequest, queueName, type LeaseAnswer, type ParentsOfJob } from "@atlasqueue/contract";
import { findLeasedSteps, parentsOf, showJob, type LeasedJob, type LeasedSteps } from "@atlasqueue/core/internal";
import { z } from "zod";
import { exampleId, exampleJob, exampleLockedUntil, exampleParents, exampleToken } from "../route/examples.ts";
import { route } from "../route/route.ts";

const exampleLease: LeaseAnswer["jobs"][number] = {
  job: { ...exampleJob, status: "running", attempts: 1, worker_id: "worker-1", flow_id: exampleId },
  lease_token: exampleToken,
  locked_until: exampleLockedUntil,
  steps: { charge: { charge_id: "ch_17" } },
  signals: {},
  steps_complete: true,
  ...exampleParents,
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
      "a worker that needs longer sends heartbeats, and a job neither settled nor renewed in time goes to another worker. " +
      "One that waited for others comes with their results, as when it is read; of all jobs together no more than about " +
      "4 MiB of them.",
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
  async ({ deps, tenant, path: { queue }, body, trace, hungUp, ifUndelivered }) => {
    const { max_jobs, wait_seconds, ...claimer } = body;
    const wish = { ...claimer, tenant, queue, jobs_max: max_jobs, wait_ms: wait_seconds * 1_000, trace };
    const { longPoll } = deps;
    const leases = await longPoll.lease(wish, hungUp());
    // With no attempt spent: no one knows of them.
    ifUndelivered(() => longPoll.undelivered(leases));
    const steps = await findLeasedSteps(
      deps,
      tenant,
      leases.filter(({ has_steps }) => has_steps).map(({ id }) => id),
    );
    const parents = await parentsOf(deps, tenant, leases);
    return { jobs: leases.map((row) => showLease(row, steps.get(row.id) ?? noSteps, parents.get(row.id))) };
  },
);

const noSteps: LeasedSteps = { steps: {}, signals: {}, complete: true };

function showLease(
  row: LeasedJob,
  { steps, signals, complete }: LeasedSteps,
  parents: ParentsOfJob | undefined,
): LeaseAnswer["jobs"][number] {
  const { lease_token, locked_until } = row;
  const held = { job: showJob(row), lease_token, locked_until: locked_until.toISOString() };
  return { ...held, steps, signals, steps_complete: complete, ...parents };
}
