import type postgres from "postgres";
import { cancelLate, type Sent } from "./server/cancel-late.ts";
import type { Database } from "./connect.ts";
import { onDeadline } from "./deadline.ts";
import { certainlyNotApplied, DatabaseTimeoutError, isAnswer, isStatementLost } from "./errors.ts";
import { noteAnswer, patienceLeft, unsent } from "./patience.ts";

/**
 * Run a query with the database's deadline, or a shorter one, which counts from when it is sent (see `patienceLeft`).
 * `began_at` is when it began to wait, if that was before. A late one is taken out of the driver's queue, or cancelled on the server, and throws `DatabaseTimeoutError`.
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
    const allow = (ms: number): void => {
      stop = onDeadline(ms, () => driver.state?.socket.bytesRead ?? 0, late);
    };
    const late = (): void => {
      const waiting = { began_at, sent_at: driver.sentAt, timeout_ms };
      const now = performance.now();
      const left_ms = patienceLeft(waiting, database.pulse, now);
      if (left_ms > 0) return allow(left_ms);
      const settled = () => void (over = true);
      // The driver hears of a failure when the server is ready for the next statement: the transaction is over.
      const answer = query.then(settled, settled);
      timeout = new DatabaseTimeoutError(
        timeout_ms,
        driver.state ? "unknown" : unsent(waiting, database.pulse, now),
        answer,
      );
      reject(timeout);
      void cancelLate(database, { query: driver, text: driver.string ?? "", isOver: () => over });
    };
    allow(Math.max(0, began_at + timeout_ms - performance.now()));
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
