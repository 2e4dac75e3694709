import { unsynced } from "../database/unsynced.ts";
import { notesInTurn } from "../turns/notes-in-turn.ts";

/**
 * The note with which the look at a tenant's notes ended, and where its round does: of at most as many tenants as a page
 * has notes. Without a place, the next look begins a round.
 */
export type NotePlace = { tenant: string; note: string; round_end: string };

/** What a look tells of its page: how many notes it tried `in_vain`, and the places where the next one goes on. */
export type Looked = { in_vain: number; reached: NotePlace[] };

/** Behind all notes that there are now: each page of the table before it is whole. */
const tableEnd = `(SELECT format('(%s,0)', pg_relation_size('flow_notes') / current_setting('block_size')::int)::tid)`;

/**
 * Parts of a WITH RECURSIVE: `page`, the notes that one look tries, of at most `$1` notes, locked; behind the places in `$2`,
 * a list of `NotePlace`. However many jobs others have locked, a look tries a page, and the next goes on behind it. A round
 * ends where the table did when it began: if more notes come all the time, those before its place have their turn as well.
 *
 * There is no ORDER BY: the index has equal keys in the order of their places, and sorting would read all notes for each
 * page. Notes before a tenant's place are read over: 0.25 µs each, where a try costs fifty times as much. A note that is
 * missed, or put there meanwhile, is found by the next round, as is a tenant's that was not in the look, of more than a page has.
 */
export const notesPage = (
  role: "parent" | "child",
) => `${notesInTurn(`flow_notes WHERE role = '${role}'`, "$1::int")}, places AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::text::json) AS place(tenant text, note tid, round_end tid)
  ), page AS MATERIALIZED (
    SELECT one.*, share, coalesce(round_end, ${tableEnd}) AS round_end
    FROM turns LEFT JOIN places ON places.tenant = turns.tenant CROSS JOIN LATERAL (
      SELECT ctid AS note, job_id, tenant, after FROM flow_notes
      WHERE role = '${role}' AND tenant = turns.tenant AND ${unsynced} AND ctid > coalesce(places.note, '(0,0)')
      LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), page_ends AS (
    SELECT DISTINCT ON (tenant) tenant, note, round_end,
           note < round_end AND count(*) OVER (PARTITION BY tenant) = share AS further
    FROM page ORDER BY tenant, note DESC
  )`;

/** What a statement with `notesPage` returns of it; `able` is its part with the notes that could be dealt with. */
export const lookedAt = (
  able: string,
) => `((SELECT count(*) FROM page) - (SELECT count(*) FROM ${able}))::int AS in_vain,
         coalesce((SELECT json_agg(json_build_object('tenant', tenant, 'note', note, 'round_end', round_end))
                   FROM page_ends WHERE further), '[]') AS reached`;
