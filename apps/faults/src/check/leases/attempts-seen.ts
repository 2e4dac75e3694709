import type { Facts } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { givenBackWrongly } from "./given-back.ts";
import { leasesOf, ranUnder, type Held } from "../leases.ts";
import {
  diedAsking,
  gaveUpThen,
  givenBackLong,
  hadItsAnswer,
  renewedLong,
  stoodStill,
  wasCutOff,
  wasHurt,
  wasShutOff,
  waitedLong,
  wasSlow,
  wereLocked,
} from "../trouble.ts";

export const attemptsSeen: Invariant = {
  name: "attempts-seen",
  sentence:
    "No attempt is spent that no handler saw, unless its process died or stood still, its way to PostgreSQL was shut, it got no processor, jobs were locked, the commit, the answer with it, its renewal or what gave it back took too long, or its caller gave up as it came",
  *find(facts, excuse) {
    const { stories, leaseCalls } = facts;
    // One that works by hand may leave what it was given.
    const left = new Set(leaseCalls.flatMap(({ by_hand, tokens }) => (by_hand ? [...tokens] : [])));
    const processOf = processesOfWorkers(facts);
    for (const [job, story] of stories)
      for (const lease of leasesOf(story)) {
        if (lease.end !== "lost" || story.runs.some((run) => ranUnder(run, lease))) continue;
        if (lease.token !== null && left.has(lease.token)) continue;
        const process = processOf(lease);
        const wrong = givenBackWrongly(facts, lease);
        const reason = excuseFor(facts, lease, process, wrong === undefined);
        if (reason !== undefined) excuse(reason);
        else
          yield {
            job,
            evidence: `attempt ${lease.attempt} of ${lease.worker} (${process ?? "unknown"}) was lost, and no handler had seen it${wrong === undefined ? "" : `; ${wrong}`}`,
          };
      }
  },
};

/** Remote workers are named after their program. Where any other is, is known from most of the attempts it ran. */
function processesOfWorkers({ stories, lives }: Facts): (lease: Held) => string | undefined {
  const ran = [...stories.values()].flatMap((story) =>
    leasesOf(story).flatMap((lease) =>
      story.runs.filter((run) => ranUnder(run, lease)).map(({ process }) => ({ worker: lease.worker, process })),
    ),
  );
  const byWorker = Map.groupBy(ran, ({ worker }) => worker);
  const programs = [...new Set(lives.map(({ name }) => name))];
  return ({ worker }) =>
    programs.find((name) => worker === name || worker?.startsWith(`${name}-`)) ??
    mostOf((byWorker.get(worker) ?? []).map(({ process }) => process));
}

const mostOf = (names: string[]) =>
  [...Map.groupBy(names, (name) => name).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];

/**
 * What the history has against the claim's way to its handler. A remote worker's jobs are claimed by an API for it: this may
 * die with them, or the answer on its way. A process' own faults come first, as they explain more than a slow machine. What became
 * of an answer excuses nobody who has not done what there is to do about one that is lost (`given_back`).
 */
function excuseFor(facts: Facts, lease: Held, process: string | undefined, given_back: boolean): string | undefined {
  const slow = wasSlow(facts, lease) ? "commits took too long" : undefined;
  if (process === undefined) {
    const workers = facts.lives.filter(({ role }) => role === "worker").map(({ name }) => name);
    return workers.some((name) => wasHurt(facts, name, lease)) ? "some worker died or stood still" : slow;
  }
  if (wasHurt(facts, process, lease)) return "its process died or stood still";
  if (diedAsking(facts, process, lease)) return "its process died while it asked";
  if (wasShutOff(facts, process, lease)) return "its way to PostgreSQL was shut";
  if (wereLocked(facts, lease)) return "the table of jobs was locked";
  if (stoodStill(facts, process, lease)) return "its process got no processor";
  if (facts.lives.find(({ name }) => name === process)?.role !== "remote") return slow;
  if (!given_back) return undefined;
  const apis = new Set(facts.lives.filter(({ role }) => role === "api").map(({ name }) => name));
  const [last_ms, first_ms] = [Math.min(lease.to_ms, lease.from_ms + 10_000), lease.from_ms];
  const handing = { from_ms: first_ms, to_ms: last_ms };
  if ([...apis].some((api) => wasHurt(facts, api, handing))) return "an API died or stood still with the answer";
  const cut = wasCutOff(facts, process, /^api/, handing) ? "the answer was cut" : undefined;
  if (cut !== undefined && !hadItsAnswer(facts, lease)) return cut;
  if (slow !== undefined) return slow;
  if (waitedLong(facts, lease)) return "the answer with it took too long";
  if (renewedLong(facts, lease)) return "its renewal took too long";
  if (givenBackLong(facts, lease)) return "what gives it back took too long";
  return gaveUpThen(facts, lease) ? "its caller gave up as the answer came" : cut;
}
