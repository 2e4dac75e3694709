import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { notHeldUnread } from "../database/transaction.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";
import { notesInTurn } from "../turns/notes-in-turn.ts";
import { handedOn, handOn, readyOf, type HandedOn } from "./hand-on.ts";

/** For one look. `vain_max` are those of one sweep whose groups can still not go on. */
const pages = { notes_max: 500, vain_max: 2_000 };
/** Looks in one sweep, leaving it time for its other duties. */
const rounds_max = 50;

/** Where the look at a tenant's notes ended, if it may have more: of at most as many tenants as a page has notes. */
type Reached = { tenant: string; queue: string; group_key: string };

/**
 * Goes round the notes that were set aside, as many groups could not go on: each sweep looks at some, and the next
 * continues from there. Every tenant has an equal share of a look, so one of which a hundred thousand groups are stuck
 * holds up no other. As soon as some can go on, the looks follow one another.
 *
 * @example
 * const goRound = createAsideRound(deps);
 * await goRound();
 */
export function createAsideRound(
  deps: Deps & { signal: Signal },
  { notes_max, vain_max } = pages,
): () => Promise<void> {
  let reached: readonly Reached[] = [];
  return async () => {
    for (let round = 0, vain = 0; round < rounds_max && vain < vain_max; round += 1) {
      const look = await advanceAside(deps, notes_max, reached);
      reached = look.reached;
      await announce(deps, look.ready);
      vain += look.looked_at - look.handovers;
      if (reached.length === 0) return;
    }
  };
}

type Look = { looked_at: number; handovers: number; ready: ReadyJob[]; reached: Reached[] };

/** As `advanceGroups`, for notes set aside. What one statement cannot do waits for the next round. */
async function advanceAside(deps: Deps, notes_max: number, after: readonly Reached[]): Promise<Look> {
  type Row = HandedOn & { reached: Reached[] | null };
  const params = [notes_max, JSON.stringify(after)];
  const [row] = await executeOn(deps.database)<Row>({ text, params });
  return {
    looked_at: row?.looked_at ?? 0,
    handovers: row?.handovers ?? 0,
    ready: readyOf(deps, row?.released ?? []),
    reached: row?.reached ?? [],
  };
}

// A second note of the group that a page ends with waits for the next round. Of more tenants than a page has notes, those
// that were not in it start over.
const text = composed(
  "groups/advance-aside",
  ["notes_max", "reached"],
  `
  WITH RECURSIVE ${notesInTurn("group_handovers WHERE aside", "$1::int")}, reached AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::text::json) AS place(tenant text, queue text, group_key text)
  ), page AS MATERIALIZED (
    SELECT note.*, share FROM turns LEFT JOIN reached ON reached.tenant = turns.tenant CROSS JOIN LATERAL (
      SELECT ctid AS note, tenant, queue, group_key FROM group_handovers AS one
      WHERE ${unsynced} AND ${notHeldUnread} AND aside AND one.tenant = turns.tenant
        AND (one.queue, one.group_key) > (coalesce(reached.queue, ''), coalesce(reached.group_key, ''))
      ORDER BY queue, group_key LIMIT share FOR UPDATE SKIP LOCKED) AS note
  ), ${handOn}, ends AS (
    SELECT DISTINCT ON (tenant) tenant, queue, group_key, count(*) OVER (PARTITION BY tenant) = share AS further
    FROM page ORDER BY tenant, queue DESC, group_key DESC
  )
  SELECT ${handedOn},
         (SELECT json_agg(json_build_object('tenant', tenant, 'queue', queue, 'group_key', group_key))
          FROM ends WHERE further) AS reached`,
);
