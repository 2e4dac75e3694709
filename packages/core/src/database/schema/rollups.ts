import { bigint, index, integer, primaryKey, text } from "../drizzle.ts";
import { atlasqueue, time } from "./columns.ts";

const total = () => bigint({ mode: "number" }).notNull();

/** An empty queue or type stands for all of them, so that no reader has to add up queues. */
const of = () => ({ tenant: text().notNull(), queue: text().notNull(), type: text().notNull(), at: time().notNull() });
const figures = () => ({
  submitted: total(),
  succeeded: total(),
  failed: total(),
  dead: total(),
  retried: total(),
  /** How long jobs waited, and ran: how many in each bucket (`rollups/histogram.ts`), without the empty ones at the end. */
  waits: bigint({ mode: "number" }).array().notNull(),
  runs: bigint({ mode: "number" }).array().notNull(),
});

/** What happened in a minute, by the database's clock. Folded into hours after two days. */
export const minuteRollups = atlasqueue.table("minute_rollups", { ...of(), ...figures() }, (row) => [
  primaryKey({ columns: [row.tenant, row.queue, row.type, row.at] }),
  index("minute_rollups_at").on(row.at),
]);

/** The same for an hour. */
export const hourRollups = atlasqueue.table("hour_rollups", { ...of(), ...figures() }, (row) => [
  primaryKey({ columns: [row.tenant, row.queue, row.type, row.at] }),
  index("hour_rollups_at").on(row.at),
]);

/**
 * Jobs that came in with callers' own transactions, which no process of ours saw commit: written with the jobs, and
 * counted by the next flush of the figures. Without a key, so that no transaction waits for a caller's.
 */
export const insideSubmissions = atlasqueue.table("inside_submissions", {
  tenant: text().notNull(),
  queue: text().notNull(),
  type: text().notNull(),
  count: integer().notNull(),
});
