import type { Facts } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { givenBackWrongly } from "./given-back.ts";
import { leasesOf, ranUnder, type Held } from "../leases.ts";
import {
  diedAsking,
  heardMs,
  renewedLong,
  stoodStill,
  wasHurt,
  wasShutOff,
  wasSlow,
  wasToldOtherwise,
  wereLocked,
} from "../trouble.ts";

export const attemptsSeen: Invariant = {
  name: "attempts-seen",
  sentence:
    "No attempt is spent that no handler saw, unless its process died or stood still, its way to PostgreSQL was shut, it got no processor, jobs were locked, or the commit, the answer with it or its renewal took too long",
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
 * Why the claim never reached its handler, if the history shows it. A process' own faults come first, as they explain more than
 * a slow machine. An API claims for a remote worker. By guarantee 5, each response under that token has the job while its
 * lease lives.
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
  return given_back ? (slow ?? unheard(facts, lease)) : undefined;
}

/** Why a remote worker could not run it, if no answer had it in time or it could not be renewed. */
function unheard(facts: Facts, lease: Held): string | undefined {
  const heard_ms = heardMs(facts, lease);
  if (heard_ms === undefined) return wasToldOtherwise(facts, lease) ? undefined : "no answer came in time";
  if (heard_ms > lease.from_ms + facts.settings.lease_ms / 3) return "the answer with it took too long";
  return renewedLong(facts, lease) ? "its renewal took too long" : undefined;
}
