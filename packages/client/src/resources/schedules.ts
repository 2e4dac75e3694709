import type { CreateScheduleInput, Job, Schedule, SchedulePage } from "@atlasqueue/contract";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

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

export function scheduleCalls(send: Send): ScheduleCalls {
  const pathOf = (name: string) => `/v1/schedules/${segment(name)}`;
  const post = async (name: string, verb: "pause" | "resume", call: CallOptions | undefined) =>
    (await send({ method: "POST", path: `${pathOf(name)}/${verb}`, repeat: "always" }, call)).body as Schedule;
  return {
    async create(schedule, call) {
      // Sent again after taking effect, it would be told that the name is taken.
      const body = JSON.stringify(schedule);
      return (await send({ method: "POST", path: "/v1/schedules", body, repeat: "undone" }, call)).body as Schedule;
    },
    async put(schedule, call) {
      const path = pathOf(schedule.name);
      return (await send({ method: "PUT", path, body: JSON.stringify(schedule), repeat: "always" }, call))
        .body as Schedule;
    },
    async get(name, call) {
      return (await send({ method: "GET", path: pathOf(name), repeat: "always" }, call)).body as Schedule;
    },
    async *list(call) {
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const query = { cursor };
        const { body } = await send({ method: "GET", path: "/v1/schedules", query, repeat: "always" }, call);
        const page = body as SchedulePage;
        yield* page.items;
        cursor = page.next_cursor;
      }
    },
    pause: (name, call) => post(name, "pause", call),
    resume: (name, call) => post(name, "resume", call),
    async run(name, call) {
      const answer = await send({ method: "POST", path: `${pathOf(name)}/run`, repeat: "undone" }, call);
      return answer.body as Job;
    },
    async delete(name, call) {
      // Sent again after taking effect, it would be told that there is no such schedule.
      await send({ method: "DELETE", path: pathOf(name), repeat: "undone" }, call);
    },
  };
}
