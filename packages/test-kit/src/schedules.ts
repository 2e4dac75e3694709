import { createSchedule, validate, type Schedule } from "@atlasqueue/contract";
import { InvalidScheduleError, type Schedules } from "@atlasqueue/core";
import { cronFault } from "@atlasqueue/core/internal/http";
import { readCron } from "@atlasqueue/core/internal/tools";
import type { TestClock } from "./clock.ts";
import type { Store } from "./store.ts";

const next_runs_max = 5;
/** Of one schedule, in one step of the clock. */
const runs_max = 1_000;

/** Schedules in memory. Moving the clock over an occurrence submits its job. */
export function createTestSchedules(store: Store, clock: TestClock) {
  const kept = new Map<string, { schedule: Schedule; from: Date }>();
  const now = () => clock.now().toISOString();
  const show = (name: string): Schedule | undefined => {
    const { schedule } = kept.get(name) ?? {};
    if (!schedule) return undefined;
    const next = schedule.paused ? [] : readCron(schedule.cron, schedule.timezone).after(clock.now(), next_runs_max);
    return { ...structuredClone(schedule), next_runs: next.map((slot) => slot.toISOString()) };
  };
  const pausing = (paused: boolean) => async (name: string) => {
    const one = kept.get(name);
    if (one && one.schedule.paused !== paused)
      kept.set(name, { schedule: { ...one.schedule, paused, updated_at: now() }, from: clock.now() });
    return show(name);
  };

  const book: Schedules = {
    async put(schedule) {
      const checked = validate(createSchedule, schedule);
      if (checked.kind === "invalid") throw new InvalidScheduleError(checked.faults);
      const fault = cronFault(checked.value);
      if (fault) throw new InvalidScheduleError([fault]);
      const { name } = checked.value;
      const before = kept.get(name);
      const made = { paused: false, next_runs: [], last_run: null, last_job_id: null, created_at: now() };
      const whole = { ...made, ...before?.schedule, ...checked.value, updated_at: now() };
      kept.set(name, { schedule: whole, from: before?.from ?? clock.now() });
      return show(name) as Schedule;
    },
    get: async (name) => show(name),
    list: async () => [...kept.keys()].toSorted().map((name) => show(name) as Schedule),
    pause: pausing(true),
    resume: pausing(false),
    delete: async (name) => kept.delete(name),
  };

  /** Submits the jobs of the occurrences that the clock has passed. */
  function fire(): void {
    for (const one of kept.values()) {
      const { cron, timezone, job, paused } = one.schedule;
      const after = new Date(one.from.getTime() + 1);
      const passed = paused ? [] : readCron(cron, timezone).upTo(clock.now(), runs_max, after);
      for (const slot of passed) {
        const { id } = store.insert({ request: structuredClone(job) });
        Object.assign(one.schedule, { last_run: slot.toISOString(), last_job_id: id });
      }
      one.from = clock.now();
    }
  }
  return { book, fire };
}
