import { hash } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import type { Submission } from "@atlasqueue/core/internal";

/**
 * One key for a whole batch, although keys belong to jobs: each job gets one made from it and its position, which no
 * client can send, and which stands for the whole batch, so that a different batch under this key is noticed whichever
 * job differs.
 *
 * @example
 * const outcome = await enqueueAll(deps, underOneKey(submissions, "import-17"), deps);
 */
export function underOneKey(submissions: readonly Submission[], key: string): Submission[] {
  const whole = hash("sha256", canonicalJson(submissions.map(({ request }) => request)), "hex");
  return submissions.map((one, at) => ({ ...one, idempotency_key: `${key}\n${at}`, fingerprint: whole }));
}
