import type { FlowBuilder, FlowMember } from "@atlasqueue/client";
import { Connected, type WithConnection } from "./connected.ts";
import { Job } from "./jobs/job.ts";
import { keyOf, submissionOf, type JobsOptions } from "./options/mapping.ts";
import { checkOptions, NotSupportedError, refuseMethods } from "./options/refused.ts";

export type FlowJobOptions = JobsOptions & {
  failParentOnFailure?: boolean | undefined;
  ignoreDependencyOnFailure?: boolean | undefined;
  removeDependencyOnFailure?: boolean | undefined;
};
export type FlowJob = {
  name: string;
  queueName: string;
  data?: unknown;
  opts?: FlowJobOptions | undefined;
  children?: readonly FlowJob[] | undefined;
};
export type JobNode = { job: Job; children?: JobNode[] };

type Policy = "cancel" | "run" | "wait";
type Added = { member: FlowMember; node: (idOf: (member: FlowMember) => string) => JobNode };

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
    return added.map(({ node }) => node((member) => submitted.handle(member).id));
  }

  #add(builder: FlowBuilder, { name, queueName: queue, data, opts = {}, children = [], ...others }: FlowJob): Added {
    checkOptions(others, "a flow", [], { prefix: "Give each application a tenant of its own, by its token." });
    const { failParentOnFailure: _, ignoreDependencyOnFailure: __, removeDependencyOnFailure: ___, ...own } = opts;
    const reason = "Only the root of a flow may have one.";
    if (own.jobId !== undefined) throw new NotSupportedError("The `jobId` of a child", reason);
    const below = children.map((child) => this.#add(builder, child));
    const links = below.length > 0 && {
      depends_on: below.map(({ member }) => member),
      on_parent_failure: policyOf(children),
    };
    const { payload = {}, ...request } = submissionOf(queue, name, data, own);
    const member = builder.add({ ...request, payload, ...links });
    const node: Added["node"] = (idOf) => ({
      job: new Job(this.api, { id: idOf(member), queue, type: name, payload }, opts),
      ...(below.length > 0 && { children: below.map((child) => child.node(idOf)) }),
    });
    return { member, node };
  }
}

/** In BullMQ each child has a policy, here the job above them has one for all. */
function policyOf(children: readonly FlowJob[]): Policy {
  const policies = new Set(
    children.map(({ opts = {} }): Policy => {
      if (opts.failParentOnFailure) return "cancel";
      return opts.ignoreDependencyOnFailure || opts.removeDependencyOnFailure ? "run" : "wait";
    }),
  );
  const [policy = "wait", another] = policies;
  if (another === undefined) return policy;
  throw new NotSupportedError("Children of one job with different `…OnFailure` options", "Give all of them the same.");
}

refuseMethods(FlowProducer, { getFlow: "Use `client.flows.get()` of @atlasqueue/client." });
