import type { Limit } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { leasesOf, type Held } from "../leases.ts";
import { mayBeForgotten } from "../trouble.ts";

export const limitsKept: Invariant = {
  name: "limits-kept",
  sentence: "No claim takes a queue above its limit",
  *find(facts) {
    const { stories, limits } = facts;
    // One that a failover lost replaces nothing.
    const kept = (one: Limit) => one.known === "ok" && !mayBeForgotten(facts, one.to_ms);
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
        const limit = limitAt(changes.get(queue) ?? [], from_ms, kept);
        if (running > limit) yield { job, evidence: `${queue} had ${running} jobs running and a limit of ${limit}` };
      }
    }
  },
};

/** The widest that may have been in force: changes under way count, and those nobody knows the end of. */
function limitAt(changes: readonly Limit[], at_ms: number, kept: (one: Limit) => boolean): number {
  const begun = changes.filter(({ from_ms, known }) => from_ms <= at_ms && known !== "fail");
  const standing = begun.filter(
    (one) => !begun.some((later) => kept(later) && later.to_ms <= at_ms && later.from_ms > one.to_ms),
  );
  const unset = !begun.some(({ to_ms }) => to_ms <= at_ms);
  if (unset) return Infinity;
  return Math.max(...standing.map(({ concurrency }) => concurrency ?? Infinity));
}
