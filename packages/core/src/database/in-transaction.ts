import type postgres from "postgres";
import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { DatabaseTimeoutError } from "./errors.ts";
import type { Execute, Statement } from "./statement.ts";

/**
 * Run statements in one transaction, prepared, each under the database's deadline and all of them under twice that.
 * Rolled back when `work` throws.
 *
 * @example
 * const outcomes = await inTransaction(database, (execute) => enqueueWith(execute, submissions, options));
 */
export async function inTransaction<T>(database: Database, work: (execute: Execute) => Promise<T>): Promise<T> {
  const transaction = database.sql.begin((tx) => work(executeWithin(tx, database)));
  return inTime(transaction as Promise<T>, database.timeout_ms * 2);
}

/** Each statement has the deadline of its own. */
function executeWithin(tx: postgres.TransactionSql, database: Database): Execute {
  return async <Row>({ text, params }: Statement) =>
    (await bounded(database, tx.unsafe(text, [...params], { prepare: true }))) as unknown as readonly Row[];
}

/** BEGIN and COMMIT have none: the driver sends them itself, and only the silence of the socket would end them. */
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
