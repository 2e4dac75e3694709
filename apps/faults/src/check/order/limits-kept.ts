import type { Invariant } from "../invariant.ts";
import { leasesOf, type Held } from "../leases.ts";
import { perhapsInForce, widestOf } from "./in-force.ts";

export const limitsKept: Invariant = {
  name: "limits-kept",
  sentence: "No claim takes a queue above its limit",
  *find(facts) {
    const { stories, limits } = facts;
    const changes = Map.groupBy(limits, ({ tenant, queue }) => `${tenant} ${queue}`);
    if (changes.size === 0) return;
    const leases = new Map<string, Held[]>();
    for (const story of stories.values()) {
      const [first] = story.moves;
      const queue = `${first?.tenant} ${first?.queue}`;
      if (!first || !changes.has(queue)) continue;
      const held = leases.get(queue) ?? [];
      held.push(...leasesOf(story));
      leases.set(queue, held);
    }
    for (const [queue, held] of leases) {
      const ends = held.map(({ to_ms }) => to_ms).toSorted((a, b) => a - b);
      const starts = held.toSorted((a, b) => a.from_ms - b.from_ms);
      let over = 0;
      for (const [at, { from_ms, job }] of starts.entries()) {
        while ((ends[over] ?? Infinity) <= from_ms) over += 1;
        const running = at + 1 - over;
        const standing = perhapsInForce(facts, changes.get(queue) ?? [], { from_ms, to_ms: from_ms });
        const limit = widestOf(standing, ({ concurrency }) => concurrency);
        if (running > limit) yield { job, evidence: `${queue} had ${running} jobs running and a limit of ${limit}` };
      }
    }
  },
};
