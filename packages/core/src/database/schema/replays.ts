import type { JsonObject, Replay, ReplayFilter } from "@atlasqueue/contract";
import { boolean, check, doublePrecision, index, integer, pgTable, smallint, sql, text, uuid } from "../drizzle.ts";
import { json, time } from "./columns.ts";

/**
 * Replays of dead letters that go on in the background, page by page. Whichever process locks the row does the next
 * page and notes how far it came in the same transaction, so that none is done twice and none is lost.
 */
export const deadLetterReplays = pgTable(
  "dead_letter_replays",
  {
    id: uuid().primaryKey(),
    tenant: text().notNull(),
    state: text().$type<Replay["state"]>().notNull(),
    filter: json<ReplayFilter>().notNull(),
    /** A JSON merge patch of each payload. */
    patch: json<JsonObject>(),
    /** The bound on each patched payload, as it was where the replay was asked for: any process carries it on. */
    payload_bytes_max: integer().notNull(),
    /** Jobs a second. */
    rate: doublePrecision(),
    matched: integer().notNull(),
    matched_complete: boolean().notNull(),
    replayed: integer().notNull().default(0),
    /** Still dead at the end. */
    left_over: integer().notNull().default(0),
    /** What died later, in microseconds, is not meant: otherwise it would go on for ever with jobs that die again. */
    until_us: doublePrecision().notNull(),
    /** How far this pass came. */
    place: json<ReplayPlace>().notNull(),
    passes: smallint().notNull().default(0),
    /** Of this pass: locked, in a locked group, or not to be patched. Another pass looks at them again. */
    passed_over: integer().notNull().default(0),
    /** The next page is not done earlier. */
    next_at: time().notNull(),
    made_by: json<Replay["created_by"]>().notNull(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
    finished_at: time(),
  },
  (row) => [
    check("dead_letter_replays_state", sql`state IN ('running', 'paused', 'done', 'cancelled')`),
    index("dead_letter_replays_tenant").on(row.tenant, row.id),
    index("dead_letter_replays_next")
      .on(row.next_at)
      .where(sql`state = 'running'`),
  ],
);
export type ReplayRow = typeof deadLetterReplays.$inferSelect;

/** Of ids, how many; otherwise the dead letter before the next one, or none. */
export type ReplayPlace = { at: number } | { dead_us: number; id: string } | { start: true };
