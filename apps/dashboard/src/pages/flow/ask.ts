import { isFinal, type FlowGraph, type FlowJob, type FlowState, type JobStatus } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { queries, useLive } from "../../api/queries.ts";
import { refresh_ms, slow_refresh_ms } from "../../api/refresh.ts";
import { drawn_jobs_max } from "./view.ts";

/** A flow with all its jobs, in the order in which they were submitted. */
export type WholeFlow = Omit<FlowGraph, "next_cursor">;

export const flowKey = (id: string) => ["flow", id] as const;

/** A large flow is a large answer, and one that has ended hardly ever changes: both are asked for less often. */
export function useFlow(id: string, every_ms = refresh_ms) {
  const known = queries.getQueryData<WholeFlow>(flowKey(id));
  const seldom = known && (known.items.length > drawn_jobs_max || known.items.every(({ status }) => isFinal(status)));
  return useLive<WholeFlow>({
    key: flowKey(id),
    ask: async (signal) => {
      const { next_cursor, ...flow } = await client.flows.get(id, {}, { signal });
      for (let cursor = next_cursor; cursor !== null;) {
        const page = await client.flows.get(id, { cursor }, { signal });
        flow.items.push(...page.items);
        cursor = page.next_cursor;
      }
      return flow;
    },
    every_ms: seldom ? Math.max(every_ms, slow_refresh_ms) : every_ms,
  });
}

/** What a flow's jobs call one another by. */
export function nameOf({ ref, type }: Pick<FlowJob, "ref" | "type">): string {
  return ref ?? type;
}

/** The flow as it will be when its jobs have other statuses. */
export function withStatuses(flow: WholeFlow, state: FlowState, to: (status: JobStatus) => JobStatus): WholeFlow {
  const items = flow.items.map((job) => ({ ...job, status: to(job.status) }));
  const counts = { ...flow.counts };
  for (const status of Object.keys(counts) as JobStatus[]) counts[status] = 0;
  for (const { status } of items) counts[status] += 1;
  return { ...flow, state, items, counts };
}
