import { composed } from "../database/composed.ts";
import { isOutage } from "../database/errors.ts";
import type { Execute } from "../database/statement.ts";
import { inTransaction, idleTxTimeout } from "../database/transaction.ts";
import { asyncCommit } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import { notesInTurn } from "./notes.ts";

/** A row of the table `outbox`. `key` is the id of the job that it is about, if any. */
export type OutboxRow = {
  id: string;
  kind: string;
  version: number;
  tenant: string;
  key: string | null;
  lane: string | null;
  payload: Readonly<Record<string, unknown>> | null;
};

/**
 * What a handler leaves: `again` are rows with more to do at once, in a page of their own, and `later` those that
 * cannot be acted on yet. `alone` are such that each may be acted on in a page of one row. The others are done.
 * `committed` runs after the commit.
 */
export type Handled = {
  again?: OutboxRow[];
  later?: OutboxRow[];
  alone?: OutboxRow[];
  committed?: () => Promise<void>;
};

/**
 * Acts on rows of one kind, by statements of the transaction that deletes them. Their jobs are locked, or gone. It may wait
 * for another lock only when the page has a single row (`is_alone`), and be called again for a row that it has acted on.
 */
export type Handler = (execute: Execute, rows: readonly OutboxRow[], is_alone: boolean) => Promise<Handled>;

/** By kind: the newest version that the handler knows. */
export type Handlers = Readonly<Record<string, { version: number; handle: Handler }>>;

/** Where a row lies: its primary key. */
export type Place = { tenant: string; not_before: string; id: string };

/**
 * `rows` is how many were taken. Of those that were put off, the first is due after `next_ms`. `alone` are those that may be
 * tried before, each alone. `error` is why one alone was put off.
 */
export type Drained = { rows: number; next_ms: number | undefined; alone?: Place[]; error?: unknown };

type Taken = OutboxRow & Place & { locked: boolean };

const delay_seconds_min = 0.25;
const delay_seconds_max = 30;

/**
 * Take up to `rows_max` rows that are due, tenants in turn and each tenant's oldest first, and act on them in one
 * transaction; with `only`, the row that lies there. Of the rows of a lane, the oldest are taken, in order; none
 * is while the first was put off. A row whose job another transaction has locked is put off,
 * as is one alone that its handler fails on. Not synced to disk, as a crash that forgets this keeps the rows.
 *
 * @example
 * const { rows } = await drainPage(deps, { admit: { version: 1, handle } }, 500);
 */
export async function drainPage(
  deps: Pick<Deps, "database">,
  handlers: Handlers,
  rows_max: number,
  only?: Place,
): Promise<Drained> {
  const versions = JSON.stringify(
    Object.fromEntries(Object.entries(handlers).map(([kind, { version }]) => [kind, version])),
  );
  const take = (execute: Execute, { tenant, not_before, id }: Place = anyPlace) =>
    execute<Taken>({ text: takeText, params: [rows_max, versions, tenant, not_before, id] });
  let taken: readonly Taken[] = [];
  const work = async (execute: Execute) => {
    taken = await take(execute, only);
    const locked = taken.filter((row) => row.locked);
    const stuck = new Set(locked.map(({ lane }) => lane).filter((lane) => lane !== null));
    const isBehind = (row: Taken) => !row.locked && row.lane !== null && stuck.has(row.lane);
    const handled: Handled[] = [{ later: locked, again: taken.filter(isBehind) }];
    const free = taken.filter((row) => !row.locked && !isBehind(row));
    for (const [kind, rows] of Map.groupBy(free, (row) => row.kind))
      handled.push((await handlers[kind]?.handle(execute, rows, taken.length === 1)) ?? {});
    const again = handled.flatMap((one) => one.again ?? []);
    const alone = handled.flatMap((one) => one.alone ?? []);
    const later = [...handled.flatMap((one) => one.later ?? []), ...alone].map(deferRow);
    const back = [...again.map((row) => ({ ...row, seconds: 0 })), ...later];
    const places = back.length > 0 ? await putBack(execute, back) : [];
    const next_ms = later.length > 0 ? Math.min(...later.map(({ seconds }) => seconds * 1_000)) : undefined;
    const may_be_alone = new Set(alone.map(({ id }) => id));
    return {
      next_ms,
      alone: places.filter(({ id }) => may_be_alone.has(id)),
      committed: handled.flatMap((one) => one.committed ?? []),
    };
  };
  try {
    const { next_ms, alone, committed } = await inTransaction(deps.database, work);
    for (const act of committed) await act();
    return { rows: taken.length, next_ms, alone };
  } catch (error) {
    const [one] = taken;
    if (!one || taken.length > 1 || isOutage(error)) throw error;
    const late = deferRow(one);
    // What took it was rolled back. Another process may have acted on it since.
    await inTransaction(deps.database, async (execute) => {
      if ((await take(execute, one)).length > 0) await putBack(execute, [late]);
    });
    return { rows: 1, next_ms: late.seconds * 1_000, error };
  }
}

const anyPlace: Place = { tenant: "", not_before: "-infinity", id: "" };

const putBack = (execute: Execute, rows: readonly (OutboxRow & { seconds: number })[]) =>
  execute<Place>({ text: putBackText, params: [JSON.stringify(rows)] });

/** Each time twice as long. */
function deferRow({ payload, ...row }: OutboxRow) {
  const tries = Number(payload?.["tries"] ?? 0);
  const seconds = Math.min(delay_seconds_min * 2 ** tries, delay_seconds_max);
  return { ...row, payload: { ...payload, tries: tries + 1 }, seconds };
}

// The jobs are locked here, so that the snapshots of the handler's statements have what was committed before. Of two that
// change the same job, the later one sees what the other did. An older row of a lane that another transaction is acting on, or
// that was put off, is still there, so nothing overtakes it.
// A range of the index of lanes: with an equality, PostgreSQL could read all rows of the tenant by the primary key.
const inLane = (row: string, other: string) => `${row}.lane IS NOT NULL
        AND (${row}.tenant, ${row}.lane) >= (${other}.tenant, ${other}.lane)
        AND (${row}.tenant, ${row}.lane) <= (${other}.tenant, ${other}.lane) ORDER BY ${row}.tenant, ${row}.lane, ${row}.id`;

const rowsOf = (which: string) => `
      SELECT ctid AS lies_at, id, kind, version, tenant, key, lane, payload, not_before FROM atlasqueue.outbox
      WHERE ${which} AND version <= ((SELECT $2::text::jsonb) ->> kind)::int
        AND (lane IS NULL OR (
          SELECT first.id = outbox.id OR first.not_before = '-infinity' FROM atlasqueue.outbox AS first
          WHERE ${inLane("first", "outbox")} LIMIT 1))
        AND ${asyncCommit} AND ${idleTxTimeout}`;

// Rows are deleted by their places on the disk: they are locked, and no statement updates a row of the outbox.
const takeText = composed(
  "outbox/take",
  ["rows_max", "versions", "tenant", "not_before", "id"],
  `
  WITH RECURSIVE ${notesInTurn("atlasqueue.outbox WHERE $5 = ''", "$1::int")}, found AS MATERIALIZED (
    SELECT * FROM (${rowsOf("tenant = $3 AND not_before = $4::text::timestamptz AND id = nullif($5, '')::bigint")} FOR UPDATE SKIP LOCKED) AS one
    UNION ALL
    SELECT one.* FROM turns CROSS JOIN LATERAL (${rowsOf("tenant = turns.tenant AND not_before <= now()")}
      ORDER BY not_before, id LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), ahead AS MATERIALIZED (
    SELECT * FROM (SELECT DISTINCT tenant, lane FROM found WHERE lane IS NOT NULL) AS lanes CROSS JOIN LATERAL (
      SELECT id AS before FROM atlasqueue.outbox
      WHERE id NOT IN (SELECT id FROM found) AND ${inLane("outbox", "lanes")} LIMIT 1) AS one
  ), page AS MATERIALIZED (
    SELECT found.* FROM found LEFT JOIN ahead USING (tenant, lane) WHERE before IS NULL OR id < before
  ), tried AS MATERIALIZED (
    SELECT page.*, seen.exists IS NOT NULL AND mine.exists IS NULL AS locked FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid FOR NO KEY UPDATE SKIP LOCKED) AS mine ON true
  ), taken AS (
    DELETE FROM atlasqueue.outbox WHERE ctid = ANY(ARRAY(SELECT lies_at FROM tried))
  )
  SELECT id::text, kind, version, tenant, key, lane, payload, not_before::text, locked FROM tried ORDER BY tried.id`,
);

// With its id a row keeps its place.
const putBackText = composed(
  "outbox/put-back",
  ["rows"],
  `
  INSERT INTO atlasqueue.outbox (id, kind, version, tenant, key, lane, payload, not_before)
  SELECT id, kind, version, tenant, key, lane, payload, CASE WHEN seconds > 0 THEN now() + make_interval(secs => seconds) ELSE '-infinity' END
  FROM json_to_recordset($1::text::json)
    AS row(id bigint, kind text, version smallint, tenant text, key text, lane text, payload jsonb, seconds float8)
  RETURNING tenant, not_before::text, id::text`,
);
