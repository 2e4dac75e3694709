import { type OnParentFailure, type SubmitBatch, type SubmittedBatch, canonicalJson } from "@atlasqueue/contract";
import type { EnqueueOutcome, Submission } from "../submit/outcome.ts";
import { hash } from "node:crypto";

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
  /** Its place among the jobs of its flow, from 0. */
  place: number;
  ref: string | null;
  on_parent_failure: OnParentFailure;
  parents: readonly Parent[];
  has_children: boolean;
  /** The job that added it as it ended. */
  spawned_by?: string | undefined;
};
export type Parent = { ref: string; id: string };

/** The place of each job that has a ref. */
export function placesOf(jobs: readonly FlowJob[]): Map<string, number> {
  return new Map(jobs.flatMap(({ ref }, at) => (ref === undefined ? [] : [[ref, at] as const])));
}

/** A flow whose jobs wait for none but one another, and which asks for nothing that another job may have. */
export function standsAlone(flow: Flow): boolean {
  const refs = new Set(flow.jobs.map(({ ref }) => ref));
  const isOwn = ({ request, depends_on = [] }: FlowJob) =>
    !request.unique && depends_on.every((name) => refs.has(name));
  return isFlow(flow) && flow.jobs.every(isOwn) && !flow.then?.request.unique;
}

/** Whether any of its jobs waits for another. Otherwise it is a batch like any other, and its refs are for no one. */
export function isFlow({ jobs, then }: Flow): boolean {
  return then !== undefined || jobs.some(({ depends_on = [] }) => depends_on.length > 0);
}

/** A batch as it was sent, by whom and where in a trace. */
export function flowOf({ jobs, then }: SubmitBatch, by: Pick<Submission, "tenant" | "trace">): Flow {
  return {
    jobs: jobs.map(({ idempotency_key, ref, depends_on, on_parent_failure, ...request }) => {
      return { ...by, request, idempotency_key, ref, depends_on, on_parent_failure };
    }),
    then: then && { ...by, request: then },
  };
}

/** The answer to it, once all is stored. */
export function answerOf(flow: Flow, outcomes: readonly EnqueueOutcome[]): SubmittedBatch {
  const stored = outcomes.map((outcome) => {
    if (!("job" in outcome)) throw new Error("what was stored has no job");
    return { ...outcome, created: outcome.kind === "created" };
  });
  const all = stored.map(({ job: { id, status }, created }) => ({ id, status, created }));
  const then = all[flow.jobs.length];
  const flow_id = isFlow(flow) ? (stored[0]?.job.flow_id ?? null) : null;
  return { jobs: all.slice(0, flow.jobs.length), flow_id, ...(then && { then }) };
}

/**
 * One key for a whole batch, although keys belong to jobs: each job gets one made from it and its position, which no
 * client can send, and which stands for the whole batch, so that a different batch under this key is noticed whichever
 * job differs, or whichever waits for another.
 *
 * @example
 * const outcome = await enqueueAll(deps, underOneKey({ jobs: submissions }, "import-17").jobs, deps);
 */
export function underOneKey({ jobs, then }: Flow, key: string): Flow {
  const asked = [...jobs.map(askedOf), ...(then ? [{ then: then.request }] : [])];
  const fingerprint = hash("sha256", canonicalJson(asked), "hex");
  const keyed = <S extends Submission>(one: S, at: number): S => ({
    ...one,
    fingerprint,
    idempotency_key: `${key}\n${at}`,
  });
  return { jobs: jobs.map(keyed), then: then && keyed(then, jobs.length) };
}

/** What the key of a single job stands for besides its request. */
export const tiesOf = ({ depends_on, on_parent_failure = "cancel" }: FlowJob): string =>
  canonicalJson({ depends_on, on_parent_failure });

/** What is left out and what is there by default are the same request. */
function askedOf({ request, ref, depends_on = [], on_parent_failure = "cancel" }: FlowJob) {
  return { ...request, ref, ...(depends_on.length > 0 && { depends_on, on_parent_failure }) };
}
