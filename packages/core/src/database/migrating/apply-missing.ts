import { executeIn } from "../caller-transaction.ts";
import type postgres from "../driver.ts";
import { codeOf } from "../errors.ts";
import { schemaNamed, type SchemaName } from "../schema/name.ts";
import type { Sent } from "../server/cancel-late.ts";
import { sentWhole, type Execute, type Statement } from "../statement.ts";
import type { Migrator } from "./connect.ts";
import { appliedMigrations, missingJournal, noteApplied, type Migration } from "./journal.ts";

export type MigrateOptions = {
  /** Aborted: ends what is under way, which is rolled back, and rejects with its reason. */
  stop?: AbortSignal | undefined;
  /** Called with a line that says what the migration waits for, at most once a minute with the same line. */
  tell?: ((line: string) => void) | undefined;
};

/** "AtlasQ" in ASCII: any fixed number that other programs in the same database are unlikely to pick. */
const migration_lock = 0x41746c617351;
/**
 * Who waits for a table has everybody who comes later wait behind it: below the deadline of an API's statements, 1.5 s, and
 * above `deadlock_timeout`, 1 s, after which an autovacuum gives way.
 */
const lock_ms = 1_200;
/** Between two tries the others pass. */
const rest_ms = 2_000;
/** The server's own limit may be shorter than our rests; without one, a process that stands still would keep its tables. */
const idle_ms = 10_000;
const say_again_ms = 60_000;
const statement_chars_max = 120;
/** It waited too long for a lock, or lost in a deadlock. */
const lock_not_available = "55P03";
const deadlock_detected = "40P01";

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
  {
    stop,
    tell = () => {},
    slowly = async (work) => work(),
    schema = schemaNamed(),
  }: MigrateOptions & { slowly?: Migrator["slowly"]; schema?: SchemaName } = {},
): Promise<void> {
  let said = { line: "", at: 0 };
  let rests = false;
  let statement = "";
  const run = async (tx: postgres.TransactionSql, text: string): Promise<void> => {
    stop?.throwIfAborted();
    statement = text;
    const query = tx.unsafe(text);
    // The server would go on with it unheard.
    const cancel = () => void (query as unknown as Sent).canceller?.(query).catch(() => {});
    stop?.addEventListener("abort", cancel, { once: true });
    await slowly(() => query).finally(() => stop?.removeEventListener("abort", cancel));
  };
  // Explicit, as under another default the journal would be read as it was before the turn.
  const applyNext = () =>
    sql.begin("isolation level read committed", async (tx): Promise<void> => {
      await tx.unsafe(limits);
      await run(tx, takeTurn);
      const execute = executeWhole(tx, schema);
      const next = await firstMissing(execute, migrations, schema);
      if (!next) return;
      // With the turn, so that however many migrate, a table is asked for by one; and with nothing else.
      if (rests) await run(tx, `SELECT pg_sleep(${rest_ms / 1_000})`);
      for (const text of await missingJournal(execute, schema)) await run(tx, schema.fill(text));
      for (const text of next.sql) await run(tx, schema.fill(text));
      await tx.unsafe(schema.fill(noteApplied(next)));
    });
  while (await firstMissing(executeIn(sql, schema), migrations, schema)) {
    stop?.throwIfAborted();
    try {
      await applyNext();
      rests = false;
    } catch (error) {
      stop?.throwIfAborted();
      const code = codeOf(error);
      if (code !== lock_not_available && code !== deadlock_detected) throw error;
      rests = true;
      const line = waitingLine(statement);
      if (line === said.line && performance.now() - said.at < say_again_ms) continue;
      said = { line, at: performance.now() };
      tell(line);
    }
  }
}

/** The server would wait for the second half of a statement without counting as idle. */
function executeWhole(tx: postgres.TransactionSql, { fill }: SchemaName): Execute {
  const how = { ...sentWhole, prepare: false };
  return async <Row>({ text, params }: Statement) =>
    (await tx.unsafe(fill(text), [...params], how)) as unknown as readonly Row[];
}

async function firstMissing(execute: Execute, migrations: readonly Migration[], schema: SchemaName) {
  const last = (await appliedMigrations(execute, migrations, schema)).at(-1)?.made_at ?? 0;
  return migrations.find(({ folderMillis }) => folderMillis > last);
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
