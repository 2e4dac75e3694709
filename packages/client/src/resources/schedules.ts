import type { CreateScheduleInput, Job, Schedule, SchedulePage } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

/** Jobs that recur by cron. An unknown name is a `NotFoundError`. */
export type ScheduleCalls = {
  /** Create a schedule. Rejects with ConflictError when the name is taken. */
  create(schedule: CreateScheduleInput, call?: CallOptions): Promise<Schedule>;
  /** Create a schedule or replace it. Safe to repeat: with the same cron and time zone it keeps its position. */
  put(schedule: CreateScheduleInput, call?: CallOptions): Promise<Schedule>;
  /** With its next five runs. */
  get(name: string, call?: CallOptions): Promise<Schedule>;
  /** All of them, ordered by name. */
  list(call?: CallOptions): AsyncIterable<Schedule>;
  /** Fire nothing. Safe to repeat. */
  pause(name: string, call?: CallOptions): Promise<Schedule>;
  /** Fire again, from the next run on. Safe to repeat. */
  resume(name: string, call?: CallOptions): Promise<Schedule>;
  /** Submit its job now, besides its slots. */
  run(name: string, call?: CallOptions): Promise<Job>;
  /** The jobs it made stay. */
  delete(name: string, call?: CallOptions): Promise<void>;
};

export function scheduleCalls(ask: Ask): ScheduleCalls {
  const at = ["schedules"];
  return {
    // Sent again after taking effect, the answer would be that the name is taken.
    create: (body, call) => ask<Schedule>("POST", at, call, { body, repeat: "undone" }),
    put: (body, call) => ask<Schedule>("PUT", [...at, body.name], call, { body }),
    get: (name, call) => ask<Schedule>("GET", [...at, name], call),
    async *list(call) {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page: SchedulePage = await ask<SchedulePage>("GET", at, call, { query: { cursor } });
        yield* page.items;
        cursor = page.next_cursor;
      }
    },
    pause: (name, call) => ask<Schedule>("POST", [...at, name, "pause"], call),
    resume: (name, call) => ask<Schedule>("POST", [...at, name, "resume"], call),
    run: (name, call) => ask<Job>("POST", [...at, name, "run"], call, { repeat: "undone" }),
    async delete(name, call) {
      // Sent again after taking effect, the answer would be that there is no such schedule.
      await ask("DELETE", [...at, name], call, { repeat: "undone" });
    },
  };
}
