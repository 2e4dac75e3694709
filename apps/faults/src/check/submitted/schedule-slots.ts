import type { Invariant } from "../invariant.ts";

const slot = /^schedule:(.*):(\d{4}-.*Z)$/;

export const scheduleSlots: Invariant = {
  name: "schedule-slots",
  sentence: "Each job of a schedule is of one of its slots, and no slot has two",
  *find({ schedules, stories, final }) {
    const every = new Map(schedules.map(({ tenant, name, every_ms }) => [`${tenant} ${name}`, every_ms]));
    const names = new Set(schedules.map(({ name }) => name));
    const slotOf = new Map<string, string>();
    for (const { tenant, key, job } of final.keys) {
      const [, name, time] = slot.exec(key) ?? [];
      if (name === undefined || time === undefined) continue;
      slotOf.set(job, key);
      const period_ms = every.get(`${tenant} ${name}`);
      if (period_ms === undefined) yield { job, evidence: `${key} is of no schedule of ${tenant}` };
      else if (Date.parse(time) % period_ms !== 0) yield { job, evidence: `${key} is between two slots` };
    }
    for (const [job, { moves }] of stories) {
      const [first] = moves;
      if (first?.was === null && first.nonce !== null && names.has(first.nonce) && !slotOf.has(job))
        yield { job, evidence: `made by the schedule ${first.nonce} for a slot that has another job` };
    }
  },
};
