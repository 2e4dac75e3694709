import type postgres from "postgres";
import { cancelLate, type Sent } from "./server/cancel-late.ts";
import type { Database } from "./connect.ts";
import { certainlyNotApplied, DatabaseTimeoutError, isAnswer, isStatementLost } from "./errors.ts";
import { noteAnswer, onceOverdue, unsent } from "./patience.ts";

/**
 * Run a query with the database's deadline, or a shorter one, which counts from when it is sent (see `onceOverdue`).
 * `began_at` is when it began to wait, if that was before. A late one is taken out of the driver's queue, or cancelled on
 * the server, and throws `DatabaseTimeoutError`.
 * `outcomeUnknown(error)` says whether a failed query may have taken effect.
 *
 * @example
 * const rows = await bounded(database, database.sql`SELECT 1 AS one`);
 */
export async function bounded<T extends readonly postgres.MaybeRow[]>(
  database: Database,
  query: postgres.PendingQuery<T>,
  timeout_ms = database.timeout_ms,
  began_at = performance.now(),
): Promise<postgres.RowList<T>> {
  const driver = query as unknown as Sent;
  let timeout: DatabaseTimeoutError | undefined;
  let over = false;
  let stop: () => void = () => {};
  const deadline = new Promise<never>((_, reject) => {
    const waiting = { began_at, timeout_ms, sent_at: () => driver.sentAt };
    const late = (): void => {
      const settled = () => void (over = true);
      void query.then(settled, settled);
      timeout = new DatabaseTimeoutError(timeout_ms, driver.state ? "unknown" : unsent(waiting, database.pulse));
      reject(timeout);
      void cancelLate(database, { query: driver, text: driver.string ?? "", isOver: () => over });
    };
    stop = onceOverdue(waiting, database.pulse, late);
  });
  try {
    const rows = await Promise.race([query, deadline]);
    noteAnswer(database.pulse);
    // The driver sent it again by itself.
    if (isStatementLost(driver.retried)) database.stopPreparing();
    return rows;
  } catch (error) {
    if (isStatementLost(error)) database.stopPreparing();
    if (isAnswer(error)) noteAnswer(database.pulse);
    throw timeout ?? (driver.state ? error : certainlyNotApplied(error));
  } finally {
    stop();
  }
}
