import type postgres from "postgres";
import { cancelLate, type Sent } from "./server/cancel-late.ts";
import type { Database } from "./connect.ts";
import { onDeadline } from "./deadline.ts";
import { certainlyNotApplied, DatabaseTimeoutError } from "./errors.ts";

/**
 * Run a query with the database's deadline, or a shorter one. One that is late is taken out of the driver's queue, or
 * cancelled on the server, and throws `DatabaseTimeoutError`. Whether a query that failed took effect is what
 * `outcomeUnknown(error)` says.
 *
 * @example
 * const rows = await bounded(database, database.sql`SELECT 1 AS one`);
 */
export async function bounded<T extends readonly postgres.MaybeRow[]>(
  database: Database,
  query: postgres.PendingQuery<T>,
  timeout_ms = database.timeout_ms,
): Promise<postgres.RowList<T>> {
  const driver = query as unknown as Sent;
  let timeout: DatabaseTimeoutError | undefined;
  let over = false;
  let stop: () => void = () => {};
  const deadline = new Promise<never>((_, reject) => {
    stop = onDeadline(
      timeout_ms,
      () => driver.state?.socket.bytesRead ?? 0,
      () => {
        timeout = new DatabaseTimeoutError(timeout_ms, driver.state ? "unknown" : "not_applied");
        reject(timeout);
        const settled = () => void (over = true);
        query.then(settled, settled);
        void cancelLate(database, { query: driver, text: driver.string ?? "", isOver: () => over });
      },
    );
  });
  try {
    return await Promise.race([query, deadline]);
  } catch (error) {
    throw timeout ?? (driver.state ? error : certainlyNotApplied(error));
  } finally {
    stop();
  }
}
