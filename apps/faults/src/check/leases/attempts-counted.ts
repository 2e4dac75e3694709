import type { Invariant } from "../invariant.ts";

export const attemptsCounted: Invariant = {
  name: "attempts-counted",
  sentence: "Attempts are the committed claims less what was given back, and never more than the job has",
  *find({ stories }) {
    for (const [job, { moves }] of stories) {
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
    }
  },
};
