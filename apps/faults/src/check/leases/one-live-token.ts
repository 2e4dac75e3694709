import type { Invariant } from "../invariant.ts";
import { leasesOf } from "../leases.ts";

export const oneLiveToken: Invariant = {
  name: "one-live-token",
  sentence: "A job never has two live tokens: no lease is taken before it ends, and none is minted twice",
  *find({ stories }) {
    for (const [job, story] of stories) {
      const tokens = new Set<string>();
      for (const { token, end, attempt, stopped } of leasesOf(story)) {
        if (token === null) yield { job, evidence: `attempt ${attempt} was claimed without a token` };
        else if (tokens.has(token)) yield { job, evidence: `the token ${token} was used for two claims` };
        if (token !== null) tokens.add(token);
        const left_ms = stopped?.lease_left_ms ?? 0;
        if (end === "lost" && left_ms > 0)
          yield {
            job,
            evidence: `attempt ${attempt} was taken from ${stopped?.worker} with ${left_ms.toFixed(1)} ms of its lease left`,
          };
      }
      for (const { was, status, old_token, token, attempts } of story.moves)
        if (was === "running" && status === "running" && old_token !== token)
          yield { job, evidence: `attempt ${attempts} changed its token while it ran` };
    }
  },
};
