import type { JobSubmission, Client } from "@atlasqueue/client";

type ScheduleInput = Parameters<Client["schedules"]["put"]>[0];

/** What another queue has: a job to import with its state there, a schedule, or what stays there. */
export type Found =
  | { kind: "job"; state: string; id: string; job: JobSubmission }
  | { kind: "schedule"; id: string; schedule: ScheduleInput }
  | { kind: "left"; id: string; reason: string };

/** Another queue, read a page at a time and never changed. */
export type Source = { name: string; read(): AsyncGenerator<Found>; close(): Promise<void> };

/** What was found, or why it stays there. Only what has no counterpart here throws a `NotSupportedError`. */
export function orLeft(id: string, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof Error && error.name === "NotSupportedError")) throw error;
    return { kind: "left", id, reason: error.message.replace(/ is not supported by \S+ .*$/, " has no counterpart") };
  }
}
