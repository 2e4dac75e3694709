import { isFinal, type JobStatus } from "@atlasqueue/contract";
import type { Invariant } from "../invariant.ts";
import { forgotten, mayBeForgotten } from "../trouble.ts";

/** Whether a move leaves the job where nothing more happens to it by itself; a removed one is there too. */
const ended = (status: string | null) => status === null || isFinal(status as JobStatus);

export const acknowledgedEnd: Invariant = {
  name: "acknowledged-ends",
  sentence: "Every acknowledged job has ended when all is quiet, or waits for a stated reason",
  *find(facts, excuse) {
    const { submits, stories, final } = facts;
    const why = new Map(final.open.map((job) => [job.id, job]));
    const seen = new Set<string>();
    for (const { answers, via, to_ms } of submits)
      for (const { job, nonce } of answers.values()) {
        if (job === undefined || seen.has(job)) continue;
        seen.add(job);
        const last = stories.get(job)?.moves.at(-1);
        if (!last && mayBeForgotten(facts, to_ms)) excuse(forgotten);
        else if (!last) yield { job, evidence: `${nonce}, submitted by ${via}, was acknowledged and never stored` };
        else if (!ended(last.status) && !why.get(job)?.why)
          yield { job, evidence: `${nonce} is ${last.status} at attempt ${last.attempts} and nothing explains why` };
      }
    // Those whose answers were lost are owed an end just the same.
    for (const [id, { moves }] of stories) {
      const last = moves.at(-1);
      if (last && !seen.has(id) && !ended(last.status) && !why.get(id)?.why)
        yield { job: id, evidence: `stored, though nobody was told, it is ${last.status} and nothing explains why` };
    }
  },
};
