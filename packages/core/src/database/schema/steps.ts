import { boolean, primaryKey, smallint, text, uuid } from "../drizzle.ts";
import { atlasqueue, json, time } from "./columns.ts";

// Every statement that writes one of these rows also writes the job's own row: see steps/as-seen.ts.

/** What a job's handler has done already, and need not do again when it runs once more. */
export const jobSteps = atlasqueue.table(
  "job_steps",
  {
    job_id: uuid().notNull(),
    name: text().notNull(),
    result: json().notNull(),
    /** The attempt that did it. */
    attempt: smallint().notNull(),
    finished_at: time().notNull(),
  },
  (row) => [primaryKey({ columns: [row.job_id, row.name] })],
);

/** What was sent to a job, whether or not it waits for it yet. The first of a name counts. */
export const jobSignals = atlasqueue.table(
  "job_signals",
  {
    job_id: uuid().notNull(),
    name: text().notNull(),
    payload: json().notNull(),
    sent_at: time().notNull(),
  },
  (row) => [primaryKey({ columns: [row.job_id, row.name] })],
);

/** What jobs wait for that are parked, or were: until when, from the first time on. */
export const jobWaits = atlasqueue.table(
  "job_waits",
  {
    job_id: uuid().notNull(),
    name: text().notNull(),
    /** Then it runs without the signal. */
    until: time().notNull(),
    /** Its handler has been told that the time is over: it stays so, whatever the clock says. */
    timeout_delivered: boolean(),
  },
  (row) => [primaryKey({ columns: [row.job_id, row.name] })],
);
