import { flowStates } from "@atlasqueue/contract";
import { z } from "zod";
import { firstOf } from "../../untrusted/excerpt.ts";
import { cursor, flow_id, given, items_max, limit, next_cursor } from "../fields.ts";
import { flowMember, flowRow, showFlow, showMember } from "../flow-views.ts";
import { reads, tool } from "../tool.ts";

const about = { toolset: "read", scope: "read", hints: reads } as const;

export const listFlows = tool({
  ...about,
  name: "list_flows",
  title: "List flows",
  description:
    "Flows, newest first: jobs of which some wait for others. running goes on; held waits for a job that failed; failed " +
    "has a dead one. A page may be short or even empty and still have a next_cursor.",
  input: z.strictObject({
    state: z
      .enum(flowStates)
      .optional()
      .describe(`one of ${flowStates.join(", ")}`),
    limit,
    cursor,
  }),
  output: z.object({ flows: z.array(flowRow), next_cursor }),
  async run(filter, { client, signal }) {
    const page = await client.flows.list(given(filter), { signal });
    return { flows: page.items.map(showFlow), next_cursor: page.next_cursor };
  },
});

/** The jobs of interest first: failed and running ones before waiting and finished ones. */
const urgency = ["dead", "failed", "running", "queued", "scheduled", "blocked", "cancelled", "succeeded"];

export const getFlow = tool({
  ...about,
  name: "get_flow",
  title: "Get a flow",
  description:
    `A flow and up to ${items_max} of its jobs, those that failed or run first, with what each depends on; ` +
    "critical_path are the ids of the longest chain, which decides when it ends.",
  input: z.strictObject({ flow_id, cursor }),
  output: z.object({
    flow: flowRow,
    members: z.array(flowMember),
    critical_path: z.array(z.string()).nullable().describe("null for a flow of more than one page"),
    next_cursor,
  }),
  async run({ flow_id: id, cursor: from }, { client, signal, cuts }) {
    const {
      items,
      critical_path,
      next_cursor: next,
      ...flow
    } = await client.flows.get(id, given({ cursor: from }), {
      signal,
    });
    const sorted = items.toSorted((a, b) => urgency.indexOf(a.status) - urgency.indexOf(b.status));
    const more = "get_job_details shows one of which the id is known";
    return {
      flow: showFlow(flow),
      members: firstOf(cuts, sorted, { name: "members", items_max, more }).map((job) => showMember(cuts, job)),
      critical_path: critical_path && firstOf(cuts, critical_path, { name: "critical_path", items_max }),
      next_cursor: next,
    };
  },
});
