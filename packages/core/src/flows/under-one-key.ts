import { hash } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import type { Submission } from "../submit/outcome.ts";
import type { Flow, FlowJob } from "./flow.ts";

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
