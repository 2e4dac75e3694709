import type { Invariant } from "../invariant.ts";
import { leasesOf, ranUnder } from "../leases.ts";

export const attemptsCounted: Invariant = {
  name: "attempts-counted",
  sentence: "Attempts are the committed claims less what was given back, and never more than the job has",
  *find({ stories }) {
    for (const [job, story] of stories) {
      const { moves } = story;
      let before = 0;
      for (const { was, status, attempts, max_attempts, old_token } of moves) {
        const evidence = `from ${was} with ${before} to ${status} with ${attempts} of ${max_attempts}`;
        const claimed = status === "running" && was !== "running";
        if (attempts > max_attempts && claimed) yield { job, evidence: `one attempt too many: ${evidence}` };
        const anew = attempts === 0 && was !== "running" && !claimed;
        const given = was === "running" && attempts === before - 1 && (status === "queued" || status === "scheduled");
        if (claimed ? attempts !== before + 1 : attempts !== before && !anew && !given)
          yield { job, evidence: `${evidence} (token ${old_token})` };
        before = attempts;
      }
      for (const lease of leasesOf(story)) {
        if (lease.end !== "given" || (lease.stopped?.lease_left_ms ?? 0) >= 0) continue;
        // Only its holder gives an attempt back, and the dead hold nothing.
        const died = story.runs.some(
          (run) => ranUnder(run, lease) && run.ended === "unknown" && run.to_ms <= lease.to_ms,
        );
        if (died)
          yield { job, evidence: `attempt ${lease.attempt} was not counted, though ${lease.worker} died of it` };
      }
    }
  },
};
