import { textArray } from "../database/literals.ts";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { notHeldUnread } from "../database/transaction.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { handedOn, handOn, readyOf, type HandedOn } from "./hand-on.ts";

/**
 * `handovers` is how many notes were dealt with. With `more`, the page was full, or more than one statement can deal with:
 * look at the next one at once, and at notes of the tenants in `later` after all others'. `left` is true when there are
 * others, of groups that another process has locked: come back for them. Signal what is `ready`.
 */
export type Advanced = { handovers: number; more: boolean; later: string[]; left: boolean; ready: ReadyJob[] };

/**
 * blocked → queued | scheduled: the next job of each group in which one has finished. Groups with none left are
 * forgotten. One statement that waits for no one: a note that is locked is skipped, and so is a group that is, or has a
 * locked job; then its note stays. If such notes are half of what was read of a full page they are set aside, for
 * `advance-aside.ts`: they would hide others. Fewer stay for the next look, as a group is also locked while somebody adds to it. Not synced to disk,
 * as a crash that forgets this keeps the note that asks for it.
 *
 * @example
 * const { ready } = await advanceGroups(deps, 500);
 */
export async function advanceGroups(deps: Deps, notes_max: number, except: readonly string[] = []): Promise<Advanced> {
  type Row = HandedOn & { later: string[] | null; further: boolean; left: boolean };
  const params = [notes_max, textArray(except)];
  const [row] = await executeOn(deps.database)<Row>({ text, params });
  return {
    handovers: row?.handovers ?? 0,
    more: row?.looked_at === notes_max || (row?.further === true && row.handovers > 0),
    later: row?.later ?? [],
    left: row?.left ?? false,
    ready: readyOf(deps, row?.released ?? []),
  };
}

const isFull = "(SELECT count(*) FROM page) = $1::int";
const text = composed(
  "groups/advance",
  ["notes_max", "except"],
  `
  WITH page AS MATERIALIZED (
    SELECT ctid AS note, tenant, queue, group_key FROM group_handovers
    WHERE ${unsynced} AND ${notHeldUnread} AND NOT aside AND tenant <> ALL($2::text[]) LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), ${handOn}, hiding AS MATERIALIZED (
    SELECT note FROM page WHERE (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM stuck)
  ), set_aside AS (
    UPDATE group_handovers SET aside = true
    WHERE ${isFull} AND ctid = ANY(ARRAY(SELECT note FROM hiding))
      AND (SELECT count(*) FROM hiding) * 2 >= (SELECT count(*) FROM page WHERE (tenant, queue, group_key) NOT IN (SELECT * FROM unread))
  )
  SELECT ${handedOn},
         (SELECT json_agg(tenant) FROM (
           SELECT tenant FROM stuck WHERE ${isFull} AND NOT EXISTS (SELECT FROM gone) UNION SELECT tenant FROM unread) AS tenants) AS later,
         EXISTS (SELECT FROM unread) AS further,
         ${isFull} OR EXISTS (SELECT FROM group_handovers WHERE NOT aside AND ctid NOT IN (SELECT ctid FROM gone)) AS left`,
);
