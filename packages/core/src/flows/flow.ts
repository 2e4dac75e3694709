import type { OnParentFailure } from "@atlasqueue/contract";
import type { Submission } from "../submit/outcome.ts";

/** Jobs submitted together, some of which wait for others. `then` waits for all of them, however they end. */
export type Flow = { jobs: readonly FlowJob[]; then?: Submission | undefined };

/** `depends_on` has refs of other jobs of the flow, and ids of jobs that exist. */
export type FlowJob = Submission & {
  ref?: string | undefined;
  depends_on?: readonly string[] | undefined;
  on_parent_failure?: OnParentFailure | undefined;
};

/** What a job about to be stored is in its flow. */
export type FlowPart = {
  flow_id: string;
  ref: string | null;
  on_parent_failure: OnParentFailure;
  parents: readonly Parent[];
  has_children: boolean;
};
export type Parent = { ref: string; id: string };

/** Whether any of its jobs waits for another. Otherwise it is a batch like any other, and its refs are for no one. */
export function isFlow({ jobs, then }: Flow): boolean {
  return then !== undefined || jobs.some(({ depends_on = [] }) => depends_on.length > 0);
}
