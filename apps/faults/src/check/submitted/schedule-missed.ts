import type { Facts, Schedule } from "../facts.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { clocks_ms } from "../leases.ts";
import { mayBeForgotten } from "../trouble.ts";
import { slotOf } from "./slot.ts";

/** So long before the load ended a slot must have been due: after the last fault all is well again within this time. */
const grace_ms = 10_000;

export const scheduleMissed: Invariant = {
  name: "schedule-missed",
  sentence:
    "Each slot of a schedule has its job, none before its time; with the policy `one`, what passed while nothing could fire is made up for by the latest",
  *find(facts) {
    const { schedules, quiet } = facts;
    if (!quiet) return;
    const fired = firedOf(facts);
    const stored = Map.groupBy(
      schedules.filter(
        ({ known, catch_up, to_ms }) => known === "ok" && catch_up !== undefined && !mayBeForgotten(facts, to_ms),
      ),
      ({ tenant, name }) => `${tenant} ${name}`,
    );
    for (const [of, times] of stored) {
      const [first] = times.toSorted((a, b) => a.to_ms - b.to_ms);
      if (first) yield* missing(of, first, fired, quiet.from_ms - grace_ms);
    }
  },
};

type Fired = { job: string; made_ms: number };

/** By schedule and slot; the first of two, as the other is told by its slot. */
function firedOf({ final, stories }: Facts): Map<string, Map<number, Fired>> {
  const fired = new Map<string, Map<number, Fired>>();
  for (const { tenant, key, job } of final.keys) {
    const slot = slotOf(key);
    const [made] = stories.get(job)?.moves ?? [];
    if (!slot || !made) continue;
    const of = `${tenant} ${slot.name}`;
    const slots = fired.get(of) ?? new Map<number, Fired>();
    fired.set(of, slots);
    slots.set(slot.at_ms, { job, made_ms: made.at_ms });
  }
  return fired;
}

function* missing(
  of: string,
  { to_ms, every_ms, catch_up }: Schedule,
  all: ReadonlyMap<string, ReadonlyMap<number, Fired>>,
  until_ms: number,
): Generator<Violation> {
  const fired = all.get(of) ?? new Map<number, Fired>();
  const couldFire = (slot_ms: number) =>
    [...all.values()].some((one) => (one.get(slot_ms)?.made_ms ?? Infinity) < slot_ms + every_ms / 2);
  for (const [slot_ms, { job, made_ms }] of fired)
    if (made_ms < slot_ms) yield { job, evidence: `${of} fired at ${told(made_ms)} for ${told(slot_ms)}` };
  for (
    let slot_ms = (Math.floor((to_ms + clocks_ms) / every_ms) + 1) * every_ms;
    slot_ms <= until_ms;
    slot_ms += every_ms
  ) {
    if (fired.has(slot_ms)) continue;
    // Nothing fired before the next slot was due: then that one stands for it.
    if (catch_up === "one" && slot_ms + every_ms <= until_ms && !couldFire(slot_ms)) continue;
    yield { evidence: `${of} has no job for ${told(slot_ms)}` };
  }
}

const told = (at_ms: number) => new Date(at_ms).toISOString();
