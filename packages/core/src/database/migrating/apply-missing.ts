import { pause } from "../../pause.ts";
import type { Sent } from "../server/cancel-late.ts";
import type postgres from "../driver.ts";
import { sentWhole, type Execute, type Statement } from "../statement.ts";
import { executeIn } from "../caller-transaction.ts";
import { adoptAccount, appliedMigrations, hasAccount, makeAccount, noteApplied } from "./account.ts";
import { allNew, inTheWay, onlyVacuum, waitingLine, type InTheWay } from "./in-the-way.ts";
import { onceAMinute } from "./once-a-minute.ts";

export type Migration = { sql: readonly string[]; hash: string; folderMillis: number };

export type MigrateOptions = {
  /** Aborted: ends what is under way, which is rolled back, and rejects with its reason. */
  stop?: AbortSignal | undefined;
  /** Told in a line what it waits for, as long as it does: at most once a minute the same. */
  tell?: ((line: string) => void) | undefined;
};

// "AtlasQ" in ASCII: any fixed number that other programs in the same database are unlikely to pick.
const migrationLock = 0x41746c617351;

/**
 * Who waits for a table has everybody who comes later wait behind it. Longer each time where those in the way come and go,
 * as some of them always have it, and all end soon; but below the deadline of an API's statements, 1.5 seconds.
 */
const lock_ms_min = 500;
const lock_ms_max = 1_200;
/** Between two tries the others pass. Longer each time, as a transaction that has stayed is likely to stay. */
const rest_ms_min = 1_000;
const rest_ms_max = 4_000;
/** A pooler may end a transaction that is silent for longer. */
const silent_ms = 1_000;
const turn_ms = 250;
/** A statement that is still under way after this long may be waiting for others. */
const look_ms = 250;
/**
 * How long we may be silent in a transaction. The server's own limit may be shorter than our rests; without one, a
 * process that stands still would keep its table from everybody.
 */
const idle_ms = 10_000;

/**
 * Takes the turn to migrate, if no other process has it: only asked for, as waiting for it in a transaction would hold
 * back VACUUM. An autovacuum gives way to who has waited for `deadlock_timeout`. PostgreSQL 16 has no
 * `transaction_timeout`.
 */
const takeTurn = (patient: boolean, lock_ms: number) => `
  SELECT pg_backend_pid() AS pid, pg_try_advisory_xact_lock(${migrationLock}) AS taken,
    set_config('lock_timeout', greatest(${lock_ms}, CASE WHEN ${patient} THEN (
      SELECT least(setting::int + 100, 1400) FROM pg_settings WHERE name = 'deadlock_timeout') END)::text, true),
    set_config('idle_in_transaction_session_timeout', '${idle_ms}', true),
    set_config('statement_timeout', '0', true),
    CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
      THEN set_config('transaction_timeout', '0', true) END`;

type Outcome =
  | { kind: "applied" }
  | { kind: "not_our_turn" }
  | { kind: "held_up"; at: string; by: readonly InTheWay[] };

/**
 * Does what drizzle's migrator does, but each file has a transaction of its own, where drizzle has one for all: it would
 * hold each table it has changed until the last one is, and the version that runs meanwhile takes them in another order.
 * What goes wrong stops there, and the next try goes on.
 *
 * A file that others hold up is rolled back whole and tried again, for as long as it takes. The lock that gives the turn
 * lives in the same transaction, and what is missing is read under it: whoever loses the one has lost the other.
 */
export async function applyMissing(
  sql: postgres.Sql,
  migrations: readonly Migration[],
  { stop, tell }: MigrateOptions = {},
): Promise<void> {
  const say = onceAMinute(tell);
  let rest_ms = 0;
  let patient = false;
  let lock_ms = lock_ms_min;
  let before: readonly InTheWay[] = [];
  while (await firstMissing(executeIn(sql), migrations)) {
    const outcome = await tryNext(sql, migrations, { rest_ms, patient, lock_ms, say, stop });
    switch (outcome.kind) {
      case "applied":
        rest_ms = 0;
        patient = false;
        lock_ms = lock_ms_min;
        break;
      case "not_our_turn":
        say("another process is migrating this database; waiting for its end");
        await pause(jittered(turn_ms), stop);
        break;
      case "held_up":
        if (outcome.by.length === 0) say(waitingLine(outcome.at, []));
        rest_ms = Math.min(Math.max(rest_ms * 2, rest_ms_min), rest_ms_max);
        patient = onlyVacuum(outcome.by);
        lock_ms = allNew(outcome.by, before) ? Math.min(2 * lock_ms, lock_ms_max) : lock_ms_min;
        before = outcome.by;
        break;
      default:
        outcome satisfies never;
    }
    stop?.throwIfAborted();
  }
}

type Try = {
  rest_ms: number;
  patient: boolean;
  lock_ms: number;
  say: (line: string) => void;
  stop: AbortSignal | undefined;
};

async function tryNext(
  sql: postgres.Sql,
  migrations: readonly Migration[],
  { rest_ms, patient, lock_ms, say, stop }: Try,
): Promise<Outcome> {
  let at = "";
  let by: readonly InTheWay[] = [];
  try {
    // Explicit, as under another default the account would be read as it was before the turn.
    return await sql.begin("isolation level read committed", async (tx): Promise<Outcome> => {
      const [turn] = await tx.unsafe<{ pid: number; taken: boolean }[]>(takeTurn(patient, lock_ms));
      if (!turn?.taken) return { kind: "not_our_turn" };
      // With the turn, so that however many migrate, a table is asked for by one; and with nothing else.
      await restIn(tx, jittered(rest_ms), stop);
      const execute = executeWhole(tx);
      const next = await firstMissing(execute, migrations);
      if (!next) return { kind: "applied" };
      const look = async () => {
        const found = await inTheWay(sql, turn.pid).catch(() => []);
        if (found.length === 0) return;
        by = found;
        say(waitingLine(at, found));
      };
      const run = async (statements: readonly string[]) => {
        for (const statement of statements) {
          stop?.throwIfAborted();
          at = statement;
          await watched(tx.unsafe(statement), look, stop);
        }
      };
      if (!(await hasAccount(execute))) {
        await run(makeAccount);
        await adoptAccount(execute, madeAt(migrations));
      }
      await run(next.sql);
      await noteApplied(execute, { hash: next.hash, made_at: next.folderMillis });
      return { kind: "applied" };
    });
  } catch (error) {
    stop?.throwIfAborted();
    if (!isHeldUp(error, at)) throw error;
    return { kind: "held_up", at, by };
  }
}

/** The server would wait for the second half of a statement without counting as idle. */
function executeWhole(tx: postgres.TransactionSql): Execute {
  const how = { ...sentWhole, prepare: false };
  return async <Row>({ text, params }: Statement) =>
    (await tx.unsafe(text, [...params], how)) as unknown as readonly Row[];
}

async function restIn(tx: postgres.TransactionSql, rest_ms: number, stop: AbortSignal | undefined): Promise<void> {
  for (let left = rest_ms; left > 0; left -= silent_ms) {
    await pause(Math.min(left, silent_ms), stop);
    stop?.throwIfAborted();
    await tx.unsafe("SELECT 1");
  }
}

/** Looks once when it takes long, and ends it on the server at the abort, which would go on with it unheard. */
async function watched(query: postgres.PendingQuery<postgres.Row[]>, look: () => Promise<void>, stop?: AbortSignal) {
  const timer = setTimeout(() => void look(), look_ms);
  const cancel = () => void (query as unknown as Sent).canceller?.(query).catch(() => {});
  stop?.addEventListener("abort", cancel, { once: true });
  try {
    await query;
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", cancel);
  }
}

async function firstMissing(execute: Execute, migrations: readonly Migration[]): Promise<Migration | undefined> {
  const last = (await appliedMigrations(execute, madeAt(migrations))).at(-1) ?? 0;
  return migrations.find(({ folderMillis }) => folderMillis > last);
}

const madeAt = (migrations: readonly Migration[]) => migrations.map(({ folderMillis }) => folderMillis);

const jittered = (ms: number) => ms * (1 + Math.random() / 4);

/** It waited too long for a lock, or lost in a deadlock; or somebody made the same schema meanwhile. */
const isHeldUp = (error: unknown, at: string): boolean =>
  (makeAccount.includes(at) ? /^(55P03|40P01|23505|42P06|42P07)$/ : /^(55P03|40P01)$/).test(
    String((error as { code?: unknown }).code),
  );
