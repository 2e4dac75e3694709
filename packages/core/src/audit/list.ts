import { firstId, lastId } from "../ids.ts";
import type { AuditEntry } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import type { ActRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt } from "../maintenance/retention.ts";

export type AuditFilter = {
  action?: string | undefined;
  token?: string | undefined;
  target?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
};

/** Entries one page looks at, so that a rare filter does not read the whole trail: 10 ms. */
const stretch_rows_max = 5_000;
/**
 * Ids are in the order in which acts were begun, by the clock of the process that did, and `at` is the database's: so far
 * apart may the two be.
 */
const clocks_ms_max = 3_600_000;
/**
 * What was done in a tenant, newest first. A page looks at a bounded stretch of the time asked for, so it may be short
 * or empty and still have a next one.
 *
 * @example
 * const { rows, next } = await listActs(deps, "default", { action: "queue.pause" }, 50, undefined);
 */
export async function listActs(
  deps: Pick<Deps, "database">,
  tenant: string,
  filter: AuditFilter,
  rows_max: number,
  below: string | undefined,
): Promise<{ rows: ActRow[]; next: string | undefined }> {
  const { action = "", token = "", target = "", after = "", before = "" } = filter;
  const first = after === "" ? firstId : firstIdAt(new Date(Date.parse(after) - clocks_ms_max));
  const last = before === "" ? lastId : firstIdAt(new Date(Date.parse(before) + clocks_ms_max));
  const found = await executeOn(deps.database)<ActRow & { reached: string | null }>({
    text,
    params: [tenant, lower(below ?? lastId, last), action, token, target, after, before, rows_max, first],
  });
  const reached = found[0]?.reached ?? undefined;
  const rows = found.flatMap(({ reached: _reached, ...row }) => ((row.id as string | null) === null ? [] : [row]));
  return { rows, next: rows.length === rows_max ? rows.at(-1)?.id : reached };
}

const lower = (a: string, b: string) => (a < b ? a : b);

/** A row as the wire shows it. */
export function showAct(row: ActRow): AuditEntry {
  const { id, at, actor, action, target, count, detail, request_id, address, refused, finished } = row;
  return { id, at: at.toISOString(), actor, action, target, count, detail, request_id, address, refused, finished };
}

const columns =
  "id, tenant, at, actor, token_id, action, target, count, detail, request_id, address, refused, finished";

// A stretch without a match returns one row with only `reached`: where it ended, if it was full. The look ends with the
// page; only one that is not full has read its whole stretch.
const text = composed(
  "audit/list",
  ["tenant", "below", "action", "token", "target", "after", "before", "rows_max", "above"],
  `
  WITH page AS MATERIALIZED (
    SELECT ${columns} FROM (
      SELECT ${columns}, ($3 = '' OR action = $3) AND ($4 = '' OR token_id = nullif($4, '')::uuid)
        AND ($5 = '' OR target = $5) AND ($6 = '' OR at >= nullif($6, '')::timestamptz)
        AND ($7 = '' OR at <= nullif($7, '')::timestamptz) AS found
      FROM atlasqueue.audit_log WHERE tenant = $1 AND id < $2::text::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT ${stretch_rows_max}) AS stretch
    WHERE found LIMIT $8::int
  )
  SELECT page.*, ends.reached FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $8::int THEN (
      SELECT id::text FROM atlasqueue.audit_log WHERE tenant = $1 AND id < $2::text::uuid AND id > $9::text::uuid
      ORDER BY audit_log.id DESC OFFSET ${stretch_rows_max - 1} LIMIT 1) END AS reached
  ) AS ends LEFT JOIN page ON true ORDER BY page.id DESC`,
);
