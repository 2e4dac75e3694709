import type { Invariant } from "../invariant.ts";
import { clocks_ms, leasesOf } from "../leases.ts";
import { forgotten, hasCrashed, mayBeForgotten } from "../trouble.ts";

const around_ms = 30_000;

export const runsLeased: Invariant = {
  name: "runs-leased",
  sentence:
    "No handler runs without a claim that was committed; only a crash of PostgreSQL may forget one, of a job without group or limit",
  *find(facts, excuse) {
    const limited = new Set(facts.limits.map(({ tenant, queue }) => `${tenant} ${queue}`));
    for (const [job, story] of facts.stories) {
      if (story.runs.length === 0) continue;
      const leases = leasesOf(story);
      for (const run of story.runs) {
        if (leases.some(({ attempt, from_ms }) => attempt === run.attempt && from_ms <= run.from_ms + clocks_ms))
          continue;
        const [first] = story.moves;
        const bound = first && (first.group !== null || limited.has(`${first.tenant} ${first.queue}`));
        const crashed = hasCrashed(facts, { from_ms: run.from_ms - around_ms, to_ms: run.from_ms + around_ms });
        if (crashed && !bound) excuse("a crash of PostgreSQL forgot the claim");
        else if (mayBeForgotten(facts, run.from_ms)) excuse(forgotten);
        else yield { job, evidence: `attempt ${run.attempt} ran in ${run.process} without a claim` };
      }
    }
  },
};
