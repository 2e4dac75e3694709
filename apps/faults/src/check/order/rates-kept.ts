import type { Facts, Limit, Story } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { perhapsInForce, widestOf } from "./in-force.ts";

/** Timestamps are read as fractions of ms. */
const rounding_ms = 1;

export const ratesKept: Invariant = {
  name: "rates-kept",
  sentence: "In no period of a queue's rate do more of its jobs start than it says, wherever the period begins",
  *find(facts) {
    const { stories, limits } = facts;
    const rated = limits.filter(({ rate }) => rate !== null);
    const names = new Set(rated.map(nameOf));
    for (const [queue, starts] of startsOf(stories.values(), names)) {
      const changes = limits.filter((one) => nameOf(one) === queue);
      for (const period_ms of new Set(changes.flatMap(({ rate }) => rate?.period_ms ?? [])))
        yield* tooMany(facts, queue, starts, changes, period_ms);
    }
  },
};

type Start = { job: string; at_ms: number };
const nameOf = ({ tenant, queue }: { tenant: string; queue: string }) => `${tenant} ${queue}`;

/** When their claims came, oldest first: each counts, whatever became of it. */
function startsOf(stories: Iterable<Story>, names: ReadonlySet<string>): Map<string, Start[]> {
  const starts = new Map<string, Start[]>([...names].map((name) => [name, []]));
  for (const { id, moves } of stories)
    for (const move of moves)
      if (move.status === "running" && move.was !== "running")
        starts.get(nameOf(move))?.push({ job: id, at_ms: move.asked_ms });
  for (const of of starts.values()) of.sort((a, b) => a.at_ms - b.at_ms);
  return starts;
}

/** At each start, how many there were in the period that ends with it. What started before a rate was set is not known to it. */
function* tooMany(facts: Facts, queue: string, starts: readonly Start[], changes: readonly Limit[], period_ms: number) {
  let first = 0;
  for (const [at, { job, at_ms }] of starts.entries()) {
    const since_ms = at_ms - period_ms + rounding_ms;
    while ((starts[first]?.at_ms ?? Infinity) < since_ms) first += 1;
    const started = at + 1 - first;
    const span = { from_ms: since_ms, to_ms: at_ms };
    const standing = perhapsInForce(facts, changes, span);
    const limit = widestOf(standing, ({ rate }) => (rate?.period_ms === period_ms ? rate.limit : undefined));
    if (started > limit)
      yield { job, evidence: `${queue} had ${started} starts in ${period_ms} ms and a limit of ${limit}` };
  }
}
