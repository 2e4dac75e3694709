import { executeIn } from "../caller-transaction.ts";
import type postgres from "../driver.ts";
import { codeOf } from "../errors.ts";
import { schemaNamed, type SchemaName } from "../schema/name.ts";
import { pause } from "../../pause.ts";
import { noteApplied, readJournal, type Migration } from "./journal.ts";

export type MigrateOptions = {
  /** Aborted: ends what is under way, which is rolled back, and rejects with its reason. */
  stop?: AbortSignal | undefined;
  /** Called with a line that says what the migration waits for, once for each statement that waits. */
  tell?: ((line: string) => void) | undefined;
};

/** "AtlasQ" in ASCII: a number that other programs in the database are unlikely to use for a lock of theirs. */
const migration_lock = 0x41746c617351;
/**
 * Statements that come later wait behind one that waits for a table: below the deadline of an API's statements, 1.5 s, and
 * above `deadlock_timeout`, 1 s, after which an autovacuum gives way.
 */
const lock_ms = 1_200;
/** Between two tries the others pass. */
const rest_ms = 2_000;
/** Without it, a process that stands still would keep its tables. */
const idle_ms = 10_000;
const statement_chars_max = 120;

/** PostgreSQL 16 has no `transaction_timeout`. */
const limits = `
  SELECT set_config('lock_timeout', '${lock_ms}', true), set_config('statement_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '${idle_ms}', true),
    CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL THEN set_config('transaction_timeout', '0', true) END`;
const takeTurn = `SELECT pg_advisory_xact_lock(${migration_lock})`;

/**
 * Does what drizzle's migrator does, but each file has a transaction of its own, where drizzle has one for all: it would
 * hold each table it has changed until the last one is. The lock that gives the turn to migrate lives in that transaction,
 * and what is missing is read under it. A file that waits too long for a lock is rolled back whole and tried again, until
 * it gets through. Any other error ends the call; the next one goes on from there.
 *
 * @example
 * await applyMissing(sql, shippedMigrations(), { tell: console.error });
 */
export async function applyMissing(
  sql: postgres.Sql,
  migrations: readonly Migration[],
  { stop, tell = () => {}, schema = schemaNamed() }: MigrateOptions & { schema?: SchemaName } = {},
): Promise<void> {
  const journal = (tx: postgres.Sql | postgres.TransactionSql) =>
    readJournal(executeIn(tx, schema), migrations, schema);
  let statement = "";
  let told = "";
  // Explicit, as under another default the journal would be read as it was before the turn.
  const applyNext = () =>
    sql.begin("isolation level read committed", async (tx): Promise<void> => {
      const run = async (text: string): Promise<void> => {
        statement = text;
        await tx.unsafe(schema.fill(text));
      };
      await run(limits);
      await run(takeTurn);
      const { missing, toMake } = await journal(tx);
      const [next] = missing;
      if (next) for (const text of [...toMake, ...next.sql, noteApplied(next)]) await run(text);
    });
  while ((await journal(sql)).missing.length > 0) {
    stop?.throwIfAborted();
    try {
      await applyNext();
    } catch (error) {
      stop?.throwIfAborted();
      // It waited too long for a lock, or lost in a deadlock.
      if (!/^(55P03|40P01)$/.test(codeOf(error) ?? "")) throw error;
      const line = waitingLine(statement);
      if (line !== told) tell(line);
      told = line;
      await pause(rest_ms, stop);
    }
  }
}

function waitingLine(statement: string): string {
  if (statement === takeTurn) return "another process is migrating this database; waiting for its end";
  const line = statement
    .replaceAll(/^\s*--.*$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  const shown = line.length > statement_chars_max ? `${line.slice(0, statement_chars_max)}…` : line;
  return `a migration waits for a lock that others hold, and tries again until it gets through: ${shown}`;
}
