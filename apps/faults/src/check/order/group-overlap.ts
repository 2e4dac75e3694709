import type { HandlerRun, Story } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { leasesOf, ranUnder, type Held } from "../leases.ts";
import { groupsOf } from "./groups.ts";

type Life = { run: HandlerRun; lease: Held | undefined };

export const groupOverlap: Invariant = {
  name: "group-overlap",
  sentence:
    "In a group, neither leases nor handlers overlap; only a handler that had lost its lease, or was told to end, may still be there",
  *find(facts, excuse) {
    for (const [group, members] of groupsOf(facts)) {
      yield* overlapping(members.flatMap(leasesOf), (a, b) => ({
        job: b.job,
        evidence: `of ${group}, it was claimed while ${a.job} was held`,
      }));
      const lives = members.flatMap(livesOf).map((life) => ({ ...life, ...life.run }));
      yield* overlapping(lives, (a, b) => {
        const reason = outlived(a) ?? outlived(b);
        if (reason !== undefined) excuse(reason);
        return reason !== undefined
          ? undefined
          : { job: b.job, evidence: `of ${group}, its handler ran beside that of ${a.job}` };
      });
    }
  },
};

function* overlapping<T extends { job: string; from_ms: number; to_ms: number }, V>(
  spans: readonly T[],
  tell: (first: T, second: T) => V | undefined,
): Generator<V> {
  let last: T | undefined;
  for (const span of spans.toSorted((a, b) => a.from_ms - b.from_ms)) {
    if (last && last.job !== span.job && span.from_ms < last.to_ms) {
      const told = tell(last, span);
      if (told !== undefined) yield told;
    }
    if (!last || span.to_ms > last.to_ms) last = span;
  }
}

const livesOf = (story: Story): Life[] => {
  const leases = leasesOf(story);
  return story.runs.map((run) => ({ run, lease: leases.findLast((lease) => ranUnder(run, lease)) }));
};

/** Why its lease ended before it did, and not by its own word; a timeout ends an attempt too. */
function outlived({ run, lease }: Life): string | undefined {
  if (lease === undefined) return "a handler ran on without a lease";
  if (run.to_ms <= lease.to_ms) return undefined;
  if (lease.stopped?.error?.startsWith("TimeoutError")) return "a handler outlived its timeout";
  if (lease.end === "lost") return "a handler outlived its lease";
  return lease.end === "cancelled" ? "a handler outlived its job's cancellation" : undefined;
}
