import { composed } from "../database/composed.ts";
import { isOutage } from "../database/errors.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import { inTransaction, notHeldIdle } from "../database/transaction.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import { notesInTurn } from "../turns/notes-in-turn.ts";

/** A row of the table `outbox`. `key` is the id of the job that it is about. */
export type OutboxRow = {
  id: string;
  kind: string;
  version: number;
  tenant: string;
  key: string;
  payload: Readonly<Record<string, unknown>> | null;
};

/**
 * What a handler leaves: `again` are rows with more to do at once, in a page of their own, and `later` those that
 * cannot be acted on yet. The others are done. `committed` runs after the commit.
 */
export type Handled = { again?: OutboxRow[]; later?: OutboxRow[]; committed?: () => Promise<void> };

/**
 * Acts on rows of one kind, by statements of the transaction that deletes them. Their jobs are locked, or gone. It must
 * wait for no other lock, and may be called again for a row that it has acted on.
 */
export type Handler = (execute: Execute, rows: readonly OutboxRow[]) => Promise<Handled>;

/** By kind: the newest version that the handler knows. */
export type Handlers = Readonly<Record<string, { version: number; handle: Handler }>>;

/** `rows` is how many were taken. Of those that were put off, the first is due after `next_ms`. */
export type Drained = { rows: number; next_ms: number | undefined };

type Taken = OutboxRow & { locked: boolean };

const delay_seconds_min = 0.25;
const delay_seconds_max = 30;

/**
 * Take up to `rows_max` rows that are due, tenants in turn and each tenant's oldest first, and act on them in one
 * transaction. A row whose job another transaction has locked is put off, as is one alone that its handler fails on.
 * Not synced to disk, as a crash that forgets this keeps the rows.
 *
 * @example
 * const { rows } = await drainPage(deps, { parent_ended: { version: 1, handle: closeEdges } }, 500);
 */
export async function drainPage(deps: Pick<Deps, "database">, handlers: Handlers, rows_max: number): Promise<Drained> {
  const versions = Object.fromEntries(Object.entries(handlers).map(([kind, { version }]) => [kind, version]));
  let taken: readonly Taken[] = [];
  const work = async (execute: Execute) => {
    taken = await execute<Taken>({ text: takeText, params: [rows_max, JSON.stringify(versions)] });
    const handled: Handled[] = [{ later: taken.filter(({ locked }) => locked) }];
    const free = taken.filter(({ locked }) => !locked);
    for (const [kind, rows] of Map.groupBy(free, (row) => row.kind))
      handled.push((await handlers[kind]?.handle(execute, rows)) ?? {});
    const again = handled.flatMap((one) => one.again ?? []);
    const later = handled.flatMap((one) => one.later ?? []).map(putOff);
    const back = [...again.map((row) => ({ ...row, seconds: 0 })), ...later];
    if (back.length > 0) await execute({ text: putBackText, params: [JSON.stringify(back)] });
    const next_ms = later.length > 0 ? Math.min(...later.map(({ seconds }) => seconds * 1_000)) : undefined;
    return { next_ms, committed: handled.flatMap((one) => one.committed ?? []) };
  };
  const { next_ms, committed } = await inTransaction(deps.database, work).catch(async (error: unknown) => {
    const [only] = taken;
    if (only && taken.length === 1 && !isOutage(error))
      await executeOn(deps.database)({ text: putBackText, params: [JSON.stringify([putOff(only)])] });
    throw error;
  });
  for (const act of committed) await act();
  return { rows: taken.length, next_ms };
}

/** Each time twice as long. */
function putOff({ payload, ...row }: OutboxRow) {
  const tries = Number(payload?.["tries"] ?? 0);
  const seconds = Math.min(delay_seconds_min * 2 ** tries, delay_seconds_max);
  return { ...row, payload: { ...payload, tries: tries + 1 }, seconds };
}

const dueAt = "coalesce(not_before, '-infinity'::timestamptz)";

// The jobs are locked here, so that the snapshots of the handler's statements have what was committed before. Of two that
// change the same job, the later one sees what the other did.
const takeText = composed(
  "outbox/take",
  ["rows_max", "versions"],
  `
  WITH RECURSIVE ${notesInTurn("atlasqueue.outbox WHERE true", "$1::int")}, page AS MATERIALIZED (
    SELECT one.* FROM turns CROSS JOIN LATERAL (
      SELECT id, kind, version, tenant, key, payload FROM atlasqueue.outbox
      WHERE tenant = turns.tenant AND ${dueAt} <= now() AND version <= ((SELECT $2::text::jsonb) ->> kind)::int
        AND ${unsynced} AND ${notHeldIdle}
      ORDER BY ${dueAt}, id LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), tried AS MATERIALIZED (
    SELECT page.*, seen.exists IS NOT NULL AND mine.exists IS NULL AS locked FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid FOR NO KEY UPDATE SKIP LOCKED) AS mine ON true
  ), taken AS (
    DELETE FROM atlasqueue.outbox WHERE id = ANY(ARRAY(SELECT id FROM tried))
  )
  SELECT id::text, kind, version, tenant, key, payload, locked FROM tried ORDER BY tried.id`,
);

// With its id a row keeps its place. It is there still if the transaction that took it was rolled back.
const putBackText = composed(
  "outbox/put-back",
  ["rows"],
  `
  INSERT INTO atlasqueue.outbox (id, kind, version, tenant, key, payload, not_before)
  SELECT id, kind, version, tenant, key, payload, CASE WHEN seconds > 0 THEN now() + make_interval(secs => seconds) END
  FROM json_to_recordset($1::text::json)
    AS row(id bigint, kind text, version smallint, tenant text, key text, payload jsonb, seconds float8)
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, not_before = excluded.not_before`,
);
