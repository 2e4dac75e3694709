import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { DatabaseTimeoutError } from "./errors.ts";
import type { Execute, Statement } from "./statement.ts";

/**
 * Run statements in one transaction, which is rolled back when `work` throws. All of it has the database's
 * deadline, as each statement has; when that is over, whether it was committed is unknown.
 *
 * @example
 * const outcomes = await inTransaction(database, (execute) => enqueueWith(execute, submissions, options));
 */
export async function inTransaction<T>(database: Database, work: (execute: Execute) => Promise<T>): Promise<T> {
  const transaction = database.sql.begin((tx) =>
    work(
      async <Row>({ text, params }: Statement) =>
        (await bounded(database, tx.unsafe(text, [...params], { prepare: true }))) as unknown as readonly Row[],
    ),
  );
  return inTime(transaction as Promise<T>, database.timeout_ms);
}

/** BEGIN and COMMIT have no deadline: the driver sends them itself, and only the silence of the socket would end them. */
async function inTime<T>(work: Promise<T>, timeout_ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTimeoutError(timeout_ms)), timeout_ms);
  });
  return Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
    work.catch(() => {});
  });
}

/**
 * A condition that is always true, for the first statement of a transaction that locks what others need: should this
 * process stop between two statements (a handler that burns the processor, SIGSTOP, a cut cable), the server ends the
 * transaction and its locks by itself. Of this transaction alone, so it holds through any pooler.
 */
export const notHeldIdle = "(SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL";
