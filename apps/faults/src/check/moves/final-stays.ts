import type { Act } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { clocks_ms } from "../leases.ts";

const final = new Set<string | null>(["succeeded", "dead", "cancelled"]);

export const finalStays: Invariant = {
  name: "final-stays",
  sentence: "A job that has ended stays so, unless a person replays, retries or purges it",
  *find({ stories, acts }) {
    // Those without ids are filters, and go on in the background until they have met all.
    const broad = acts.filter(({ jobs }) => jobs === undefined);
    const named = new Map<string, Act[]>();
    for (const act of acts) for (const job of act.jobs ?? []) named.set(job, [...(named.get(job) ?? []), act]);
    for (const [job, { moves }] of stories)
      for (const { was, status, at_ms, nonce } of moves) {
        if (!final.has(was)) continue;
        const wanted = status === null ? ["purge"] : ["retry", "replay"];
        const asked = [...(named.get(job) ?? []), ...broad].some(
          ({ act, known, from_ms }) => wanted.includes(act) && known !== "fail" && from_ms <= at_ms + clocks_ms,
        );
        if (!asked)
          yield {
            job,
            evidence: `it was ${was} and became ${status ?? "removed"} (${nonce}), which nobody had asked for`,
          };
      }
  },
};
