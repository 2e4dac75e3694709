import { flowStates, jobRef, onParentFailure, refOrId } from "@atlasqueue/contract";
import { z } from "zod";
import { Refusal } from "../../refusal.ts";
import { flow_id, given, idempotency_key } from "../fields.ts";
import { once } from "../once.ts";
import { tool } from "../tool.ts";
import { batch_items_max, job, submission } from "./enqueue.ts";

const about = { toolset: "operate", scope: "submit" } as const;

const parents_max = 100;

export const enqueueFlow = tool({
  ...about,
  name: "enqueue_flow",
  title: "Enqueue jobs that wait for one another",
  description:
    `Submit up to ${batch_items_max} jobs, all or none, of which some wait for others. A job runs when all that it ` +
    "depends on have succeeded, and its handler gets their results.",
  hints: { read_only: false, destructive: false, idempotent: true, open_world: true },
  input: z.strictObject({
    jobs: z
      .array(
        job.extend({
          ref: jobRef.optional().describe(`${jobRef.description ?? ""}: what depends_on of other jobs calls it by`),
          depends_on: z
            .array(refOrId)
            .max(parents_max)
            .default([])
            .describe(`a list of up to ${parents_max} refs of jobs in this call, or ids of jobs that exist`),
          on_parent_failure: onParentFailure
            .default("cancel")
            .describe(
              '"cancel", "wait" or "run": what becomes of it when one of those is dead or cancelled. wait: until ' +
                "retry_job has that one succeed",
            ),
        }),
      )
      .min(1)
      .max(batch_items_max)
      .describe(`a list of 1 to ${batch_items_max} jobs, each as enqueue_job takes it, without a key of its own`),
    idempotency_key,
  }),
  output: z.object({
    flow_id: z.string().nullable().describe("null when no job depends on another"),
    job_ids: z.array(z.string()),
    created: z.boolean().describe("false: this key had been used for the same flow, which is the one shown"),
  }),
  async run({ jobs, idempotency_key: idempotencyKey }, { client, signal }) {
    const flow = client.flow();
    for (const { ref, depends_on, on_parent_failure, ...wish } of jobs) {
      const links = given({ ref, on_parent_failure: depends_on.length > 0 ? on_parent_failure : undefined });
      try {
        flow.add({ ...submission(wish), ...links, depends_on });
      } catch (error) {
        // The same ref twice, as the client says it.
        throw new Refusal(`${(error as Error).message}. Give each job a ref of its own.`);
      }
    }
    const { id, created, jobs: stored } = await flow.submit({ idempotencyKey, signal });
    return { flow_id: id, job_ids: stored.map((handle) => handle.id), created };
  },
});

const input = z.strictObject({ flow_id, idempotency_key });
const output = z.object({
  flow_id: z.string(),
  state: z.enum(flowStates),
  changed: z.int().describe("how many jobs; 0 also when this key had been used for it"),
});

export const cancelFlow = tool({
  ...about,
  name: "cancel_flow",
  title: "Cancel a flow",
  description: "End all jobs of a flow that have not finished; running handlers are aborted. retry_flow undoes it.",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: false },
  input,
  output,
  async run({ flow_id: id, idempotency_key: key }, { client, signal }) {
    const { done } = await once({ signal }, key, (call) => client.flows.cancel(id, call));
    return { flow_id: id, state: done.flow.state, changed: done.changed };
  },
});

export const retryFlow = tool({
  ...about,
  name: "retry_flow",
  title: "Retry a flow",
  description:
    "Run the dead and cancelled jobs of a flow again, with all that their handlers do. What succeeded stays as it is; " +
    "jobs cancelled because of one that failed wait for it again, and are not counted.",
  hints: { read_only: false, destructive: true, idempotent: true, open_world: true },
  input,
  output,
  async run({ flow_id: id, idempotency_key: key }, { client, signal }) {
    const { done } = await once({ signal }, key, (call) => client.flows.retry(id, call));
    return { flow_id: id, state: done.flow.state, changed: done.changed };
  },
});
