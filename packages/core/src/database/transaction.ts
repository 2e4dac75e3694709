import { bounded } from "./bounded.ts";
import { onceOverdue, onDeadline, unsent } from "./patience.ts";
import { cancelLate, retireSilent, type Sent } from "./server/cancel-late.ts";
import type { Database } from "./connect.ts";
import { certainlyNotApplied, DatabaseTimeoutError } from "./errors.ts";
import { inTurn } from "./pool/fair-share.ts";
import { sentWhole, type Execute, type Statement } from "./statement.ts";

/**
 * How many single-statement deadlines all the statements of a transaction have together. Each takes a round trip, and
 * with one of 200 ms they add up; an absent server shows at the first statement.
 */
const transaction_deadlines = 3;

/**
 * Run statements in one transaction, or `within` the one under way, which is rolled back when `work` throws. Its BEGIN, each of its statements and
 * its COMMIT have the database's deadline, and the statements three of them together. A late transaction rolls back:
 * only a COMMIT that was sent in time and not answered leaves the outcome unknown, and `outcomeUnknown(error)` tells.
 *
 * The isolation level is explicit, as under another default a statement would not see what others committed while it
 * waited for its locks.
 *
 * @example
 * const outcomes = await inTransaction(database, (execute) => enqueueWith(execute, submissions, options));
 */
export function inTransaction<T>(
  database: Database,
  work: (execute: Execute) => Promise<T>,
  how: typeof sentWhole = sentWhole,
): Promise<T> {
  if (database.within) return work(database.within);
  return inTurn(database, (began_at) => transact(database, work, how, began_at));
}

async function transact<T>(
  database: Database,
  work: (execute: Execute) => Promise<T>,
  how: typeof sentWhole,
  began_at: number,
): Promise<T> {
  const { timeout_ms } = database;
  let committing = false;
  let late = false;
  let over = false;
  let stop: () => void = () => {};
  let sent: Sent | undefined;
  let reject: (error: Error) => void = () => {};
  const deadline = new Promise<never>((_, no) => (reject = no));
  const giveUp = (ms: number, outcome: "unknown" | "not_applied" | "busy"): void => {
    late = true;
    reject(new DatabaseTimeoutError(ms, outcome));
    // A COMMIT that waits for a standby must not lose its connection.
    if (committing && sent) void cancelLate(database, { query: sent, text: "commit", isOver: () => over });
  };
  const allow = (ms: number): void => {
    stop();
    stop = onDeadline(ms, () => giveUp(ms, committing ? "unknown" : "not_applied"));
  };
  // Its BEGIN may have to wait for a connection.
  const waiting = { began_at, timeout_ms };
  stop = onceOverdue(waiting, database.pulse, () => {
    giveUp(timeout_ms, unsent(waiting, database.pulse));
    void retireSilent(database);
  });

  const transaction = database.sql.begin("isolation level read committed", async (tx) => {
    const work_ms = timeout_ms * transaction_deadlines;
    const last = performance.now() + work_ms;
    /** Also checks the clock: after a pause of the event loop the timer may not have run yet. */
    const left = (): number => {
      const left_ms = last - performance.now();
      if (late || left_ms <= 0) throw new DatabaseTimeoutError(work_ms, "not_applied");
      return left_ms;
    };
    const execute = async <Row>({ text, params }: Statement) => {
      const query = tx.unsafe(database.schema.fill(text), [...params], how);
      sent = query as unknown as Sent;
      return (await bounded(database, query, Math.min(timeout_ms, left()))) as unknown as readonly Row[];
    };
    allow(work_ms);
    const result = await work(execute);
    left();
    committing = true;
    allow(timeout_ms);
    return result;
  }) as Promise<T>;

  const settled = () => void (over = true);
  transaction.then(settled, settled);
  try {
    return await Promise.race([transaction, deadline]);
  } catch (error) {
    throw committing ? error : certainlyNotApplied(error);
  } finally {
    stop();
    deadline.catch(() => {});
  }
}

/** The driver sends what comes next without waiting for the answer. */
const unawaited = { ...sentWhole, onexecute: () => true };

/**
 * Run statements in one transaction like `inTransaction`, but sent together with its COMMIT once it has begun: what they
 * lock is held only while the server works on them, however long the way there and back. When one fails, the server
 * refuses those after it and rolls back. Returns the rows of each.
 *
 * @example
 * const [, rooms, leases] = await sentTogether(database, [lock, look, claim]);
 */
export async function sentTogether(
  database: Database,
  statements: readonly Statement[],
): Promise<(readonly unknown[])[]> {
  const { answers } = await inTransaction(
    database,
    // Resolves at once, so that the COMMIT follows in the same turn.
    async (execute) => {
      const sent = statements.map((one) => execute<unknown>(one));
      for (const answer of sent) answer.catch(() => {});
      return { answers: sent };
    },
    unawaited,
  );
  return Promise.all(answers);
}

/**
 * A condition that is always true, for the first statement of a transaction that locks what others need: should this
 * process stop between two statements (a handler that hogs the processor, SIGSTOP, a cut cable), the server ends the
 * transaction and its locks on its own. It cannot stop within one, as they are sent whole. It applies to this transaction
 * only, so it works through any pooler.
 */
export const idleTxTimeout = "(SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL";

/**
 * The same for a transaction one of whose later statements may be larger than the network's buffers: a server that has
 * half of it waits for the rest without counting as idle. It ends the transaction after so many milliseconds, whatever
 * it is doing. PostgreSQL 16 has no such timeout: there a process that stops at that moment holds what it has locked.
 */
export const stalledTxTimeout = (ms: number) =>
  `(SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '${ms}', true) END) IS NOT NULL`;

/**
 * A condition that is always true, for a statement whose answer may be larger than the network's buffers and which locks
 * what others need: should no one read the answer (the process stands still, the cable is cut), the server drops the
 * connection, and with it the transaction and its locks. No other timeout of the server's applies while it writes. It
 * counts only while nothing at all is read, so a slow reader is left alone. It does nothing over Unix sockets, nor on
 * servers whose system lacks it: there such a claim is held until its process goes on or ends.
 */
export const tcpUserTimeout = "(SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL";
