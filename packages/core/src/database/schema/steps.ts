import { boolean, primaryKey, smallint, text, uuid, atlasqueue, json, time } from "../drizzle.ts";

// Code that writes one of these rows has locked the job's own row: see jobs/lock-job.ts.

/**
 * What a job has beyond its row. `step`: the result of a finished step, which a later attempt skips. `signal`: a signal
 * that was sent to the job, whether or not the job waits for it yet; the first of a name is used. `wait`: a signal that the
 * job waits for, or waited for, since its first wait.
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
