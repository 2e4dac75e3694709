import type { Invariant } from "../invariant.ts";
import { slotOf } from "./slot.ts";

export const scheduleSlots: Invariant = {
  name: "schedule-slots",
  sentence: "Each job of a schedule is of one of its slots, and no slot has two",
  *find({ schedules, stories, final }) {
    const every = new Map(schedules.map(({ tenant, name, every_ms }) => [`${tenant} ${name}`, every_ms]));
    const names = new Set(schedules.map(({ name }) => name));
    const taken = new Map<string, string>();
    for (const { tenant, key, job } of final.keys) {
      const slot = slotOf(key);
      if (!slot) continue;
      taken.set(job, key);
      const period_ms = every.get(`${tenant} ${slot.name}`);
      if (period_ms === undefined) yield { job, evidence: `${key} is of no schedule of ${tenant}` };
      else if (slot.at_ms % period_ms !== 0) yield { job, evidence: `${key} is between two slots` };
    }
    for (const [job, { moves }] of stories) {
      const [first] = moves;
      if (first?.was === null && first.nonce !== null && names.has(first.nonce) && !taken.has(job))
        yield { job, evidence: `made by the schedule ${first.nonce} for a slot that has another job` };
    }
  },
};
