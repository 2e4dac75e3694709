import type { FlowBuilder, FlowMember, SubmittedFlow } from "@atlasqueue/client";
import { Connected, refusedOfAll, type WithConnection } from "./connected.ts";
import { Job } from "./jobs/job.ts";
import { keyOf, submissionOf, type Flags, type JobsOptions } from "./options/mapping.ts";
import { checkOptions, NotSupportedError, refuseMethods } from "./options/refused.ts";
import type { BulkJob } from "./queue.ts";

export type FlowJobOptions = JobsOptions &
  Flags<"failParentOnFailure" | "ignoreDependencyOnFailure" | "removeDependencyOnFailure">;
export type FlowJob = BulkJob & {
  queueName: string;
  opts?: FlowJobOptions | undefined;
  children?: readonly FlowJob[] | undefined;
};
export type JobNode = { job: Job; children?: JobNode[] };

/** The policy says what becomes of the job above when this one fails. */
type Added = { member: FlowMember; policy: "cancel" | "run" | "wait"; node: (flow: SubmittedFlow) => JobNode };

/** Adds trees of jobs: a job runs when its children have succeeded. */
export class FlowProducer extends Connected {
  constructor(opts: WithConnection) {
    super("a FlowProducer", opts, {});
  }

  /** All jobs of the flow, or none. With a `jobId` of the root, adding it again adds nothing. */
  async add(flow: FlowJob): Promise<JobNode> {
    const { jobId, ...opts } = flow.opts ?? {};
    const key = jobId === undefined ? {} : { idempotencyKey: keyOf(flow.queueName, jobId) };
    const [node] = await this.addBulk([{ ...flow, opts }], key);
    return node as JobNode;
  }

  /** All jobs of all flows, or none: 1,000 at most. */
  async addBulk(flows: readonly FlowJob[], options: { idempotencyKey?: string } = {}): Promise<JobNode[]> {
    const builder = this.api.flow();
    const added = flows.map((flow) => this.#add(builder, flow));
    const submitted = await builder.submit(options);
    return added.map(({ node }) => node(submitted));
  }

  #add(builder: FlowBuilder, { name, queueName: queue, data, opts = {}, children = [], ...others }: FlowJob): Added {
    checkOptions(others, "a flow", [], refusedOfAll);
    const { failParentOnFailure: fails, ignoreDependencyOnFailure, removeDependencyOnFailure, ...own } = opts;
    const reason = "Only the root of a flow may have one.";
    if (own.jobId !== undefined) throw new NotSupportedError("The `jobId` of a child", reason);
    const below = children.map((child) => this.#add(builder, child));
    const request = submissionOf(queue, name, data, own);
    const goesOn = ignoreDependencyOnFailure || removeDependencyOnFailure ? "run" : "wait";
    const member = builder.add({ ...request, ...(below.length > 0 && linksTo(below)) });
    return {
      member,
      policy: fails ? "cancel" : goesOn,
      node: (flow) => ({
        job: new Job(this.api, { ...request, id: flow.handle(member).id }, opts),
        ...(below.length > 0 && { children: below.map((child) => child.node(flow)) }),
      }),
    };
  }
}

/** In BullMQ each child has a policy, here the job above them has one for all. */
function linksTo(below: readonly Added[]) {
  const [on_parent_failure = "wait", another] = new Set(below.map(({ policy }) => policy));
  if (another === undefined) return { depends_on: below.map(({ member }) => member), on_parent_failure };
  throw new NotSupportedError("Children of one job with different `…OnFailure` options", "Give all of them the same.");
}

refuseMethods(FlowProducer, { getFlow: "Use `client.flows.get()` of @atlasqueue/client." });
