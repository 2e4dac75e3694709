import type { Actor, JobsFilter, JsonObject, Operation, ReplayFilter } from "@atlasqueue/contract";
import {
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  primaryKey,
  smallint,
  sql,
  text,
  uuid,
  atlasqueue,
  json,
  time,
} from "../drizzle.ts";

/**
 * Operations on many jobs that go on in the background, page by page. The process that locks the row does the next page
 * and notes how far it came in the same transaction, so that none is done twice and none is lost.
 */
export const operations = atlasqueue.table(
  "operations",
  {
    tenant: text().notNull(),
    id: uuid().notNull(),
    kind: text().$type<Operation["kind"]>().notNull(),
    status: text().$type<Operation["status"]>().notNull(),
    /** Of a replay, its dead letters, with their error for people; otherwise as of the list of jobs, and empty for all of them. */
    filter: json<ReplayFilter & JobsFilter & { error?: string }>().notNull(),
    /** A JSON merge patch of each replayed payload. */
    patch: json<JsonObject>(),
    /** The most bytes of a patched payload, by the settings of the API that took the request. */
    payload_bytes_max: integer().notNull(),
    /** Jobs a second. */
    rate: doublePrecision(),
    total: integer().notNull(),
    total_complete: boolean().notNull(),
    done: integer().notNull().default(0),
    /** Those that it could not change, once it is over. */
    failed: integer().notNull().default(0),
    /** Jobs that died later, in microseconds, are not meant: otherwise a replay would go on for ever. */
    until_us: doublePrecision().notNull(),
    /** How far this pass came. */
    cursor: json<OperationCursor>().notNull(),
    passes: smallint().notNull().default(0),
    /** Of this pass: locked, in a locked group, or not to be patched. Another pass looks at them again. */
    passed_over: integer().notNull().default(0),
    /** The next page is not done earlier. */
    next_at: time().notNull(),
    made_by: json<Actor>().notNull(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
    finished_at: time(),
  },
  (row) => [
    check("operations_kind", sql`kind IN ('replay', 'cancel', 'retry', 'delete', 'purge')`),
    check("operations_status", sql`status IN ('running', 'paused', 'done', 'cancelled')`),
    primaryKey({ columns: [row.tenant, row.id] }),
    index("operations_next")
      .on(row.next_at)
      .where(sql`status = 'running'`),
  ],
);
export type OperationRow = typeof operations.$inferSelect;

/**
 * Where the next page begins: of ids, after how many; of dead letters, after one; of jobs, `below` an id. Of jobs above
 * `upper` none is meant, as they were made later.
 */
export type OperationCursor =
  | { start: true }
  | { at: number }
  | { dead_us: number; id: string }
  | { upper: string; below?: string };
