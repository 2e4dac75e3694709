import type { CreateScheduleInput, Job, Schedule, SchedulePage } from "@atlasqueue/contract";
import { listPages } from "../http/list-pages.ts";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

const at = ["schedules"];

/** Jobs that recur by cron. An unknown name is a `NotFoundError`. */
export type ScheduleCalls = ReturnType<typeof scheduleCalls>;

export const scheduleCalls = (ask: Ask) => ({
  /** Create a schedule. Rejects with ConflictError when the name is taken. */
  // Sent again after taking effect, the answer would be that the name is taken.
  create: (body: CreateScheduleInput, call?: CallOptions): Promise<Schedule> =>
    ask("POST", at, call, { body, repeat: "undone" }),
  /** Create a schedule or replace it. Safe to repeat: with the same cron and time zone it keeps its position. */
  put: (body: CreateScheduleInput, call?: CallOptions): Promise<Schedule> =>
    ask("PUT", [...at, body.name], call, { body }),
  /** With its next five runs. */
  get: (name: string, call?: CallOptions): Promise<Schedule> => ask("GET", [...at, name], call),
  /** All of them, ordered by name. */
  list: (call?: CallOptions): AsyncIterable<Schedule> =>
    listPages({}, (query) => ask<SchedulePage>("GET", at, call, { query })),
  /** Fire nothing. Safe to repeat. */
  pause: (name: string, call?: CallOptions): Promise<Schedule> => ask("POST", [...at, name, "pause"], call),
  /** Fire again, from the next run on. Safe to repeat. */
  resume: (name: string, call?: CallOptions): Promise<Schedule> => ask("POST", [...at, name, "resume"], call),
  /** Submit its job now, besides its slots. */
  run: (name: string, call?: CallOptions): Promise<Job> =>
    ask("POST", [...at, name, "run"], call, { repeat: "undone" }),
  /** The jobs it made stay. */
  // Sent again after taking effect, the answer would be that there is no such schedule.
  delete: async (name: string, call?: CallOptions): Promise<void> =>
    void (await ask("DELETE", [...at, name], call, { repeat: "undone" })),
});
