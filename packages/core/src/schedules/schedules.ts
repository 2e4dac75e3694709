import {
  createSchedule as createScheduleSchema,
  limits,
  validate,
  type CreateScheduleInput,
  type Schedule,
} from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import { cronFault } from "./cron/cron.ts";
import { findSchedule, listSchedules } from "./list.ts";
import { showSchedule, showSchedules } from "./show.ts";
import { putSchedule } from "./store.ts";
import { deleteSchedule, pauseSchedule, resumeSchedule } from "./pause.ts";
import { FaultyError } from "../submit/refused.ts";

/** What code can do with its tenant's schedules. `undefined` and `false` mean that there is none of that name. */
export type Schedules = {
  /**
   * Create a schedule or replace it; safe to call at every program start, as it keeps its position while cron and time
   * zone are unchanged. Throws `InvalidScheduleError`.
   */
  put(schedule: CreateScheduleInput): Promise<Schedule>;
  get(name: string): Promise<Schedule | undefined>;
  /** All of them, ordered by name. */
  list(): Promise<Schedule[]>;
  pause(name: string): Promise<Schedule | undefined>;
  /** Goes on with the next slot; nothing is caught up. */
  resume(name: string): Promise<Schedule | undefined>;
  /** Jobs it made stay. */
  delete(name: string): Promise<boolean>;
};

/** The schedule is not valid. */
export class InvalidScheduleError extends FaultyError {
  override readonly name = "InvalidScheduleError";
}

/**
 * The schedules of a tenant, for `createQueue`.
 *
 * @example
 * const { schedules } = createQueue({ databaseUrl });
 * await schedules.put({ name: "report", cron: "30 2 * * *", timezone: "Europe/Berlin", job: { type: "report.send" } });
 */
export function createScheduleBook(deps: Deps, tenant: string): Schedules {
  const show = (row: Parameters<typeof showSchedule>[0] | undefined) => row && showSchedule(row);
  return {
    async put(schedule) {
      const checked = validate(createScheduleSchema, schedule);
      if (checked.kind === "invalid") throw new InvalidScheduleError(checked.faults);
      const fault = cronFault(checked.value);
      if (fault) throw new InvalidScheduleError([fault]);
      const outcome = await putSchedule(deps, tenant, checked.value);
      if ("schedule" in outcome) return showSchedule(outcome.schedule);
      throw new InvalidScheduleError([{ pointer: "", message: `there are already ${limits.schedules_max} schedules` }]);
    },
    get: async (name) => show(await findSchedule(deps, { tenant, name })),
    async list() {
      const found: Schedule[] = [];
      for (let after: string | undefined = ""; after !== undefined;) {
        const page = await listSchedules(deps, tenant, limits.list_items_max, after);
        found.push(...(await showSchedules(page.rows)));
        after = page.next;
      }
      return found;
    },
    pause: async (name) => show(await pauseSchedule(deps, { tenant, name })),
    resume: async (name) => show(await resumeSchedule(deps, { tenant, name })),
    delete: (name) => deleteSchedule(deps, { tenant, name }),
  };
}
