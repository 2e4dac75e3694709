import { boolean, primaryKey, smallint, text, uuid, atlasqueue, json, time } from "../drizzle.ts";

// Whatever writes one of these rows has the job's own row locked: see jobs/lock-job.ts.

/**
 * What a job has beyond its row. `step`: what its handler has done already, and need not do again when it runs once
 * more. `signal`: what was sent to it, whether or not it waits for it yet; the first of a name counts. `wait`: what it
 * waits for while it is parked, or did, from the first time on.
 */
export const jobState = atlasqueue.table(
  "job_state",
  {
    tenant: text().notNull(),
    job_id: uuid().notNull(),
    kind: text().$type<"step" | "signal" | "wait">().notNull(),
    name: text().notNull(),
    /** Of a step its result, of a signal its payload. */
    value: json(),
    /** When the row was written. */
    at: time().notNull(),
    /** Of a step: the attempt that did it. */
    attempt: smallint(),
    /** Of a wait: then the job runs without the signal. */
    until: time(),
    /** Of a wait: its handler has seen that the time is over. It stays so, whatever the clock says. */
    timeout_delivered: boolean(),
  },
  (row) => [primaryKey({ columns: [row.job_id, row.kind, row.name] })],
);
