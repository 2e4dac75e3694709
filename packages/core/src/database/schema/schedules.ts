import { sql, check, index, primaryKey, text, uuid, atlasqueue, time, json } from "../drizzle.ts";
import { catchUps, type CatchUp, type JobTemplate } from "@atlasqueue/contract";

/**
 * Recurring jobs. The process that fires a slot locks the row, inserts the job and moves `next_at` on in one
 * transaction: so each slot is fired once, however many processes see that it is due.
 */
export const schedules = atlasqueue.table(
  "schedules",
  {
    tenant: text().notNull(),
    name: text().notNull(),
    cron: text().notNull(),
    timezone: text().notNull(),
    catch_up: text().$type<CatchUp>().notNull(),
    job: json<JobTemplate>().notNull(),
    /** While paused: since when. */
    paused_at: time(),
    /** The first slot still to be dealt with; null when there will be none. Meaningless while paused. */
    next_at: time(),
    /** The slot fired last, and its job. */
    last_slot_at: time(),
    last_job_id: uuid(),
    /** Of the request that stored it: its jobs link there. */
    traceparent: text(),
    tracestate: text(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
  },
  (schedule) => [
    primaryKey({ columns: [schedule.tenant, schedule.name] }),
    check("schedules_catch_up_known", sql.raw(`catch_up IN (${catchUps.map((kind) => `'${kind}'`).join(", ")})`)),
    index("schedules_next")
      .on(schedule.next_at)
      .where(sql`paused_at IS NULL`),
  ],
);
export type ScheduleRow = typeof schedules.$inferSelect;
