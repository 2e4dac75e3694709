import type postgres from "postgres";
import type { Database } from "./connect.ts";
import { onDeadline } from "./deadline.ts";
import { certainlyNotApplied, DatabaseTimeoutError } from "./errors.ts";

/** What the driver's types leave out. `state` is set when the query is sent. */
type Sent = { state: object | null; canceller: ((query: unknown) => Promise<void>) | null };

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
  let stop: () => void = () => {};
  const deadline = new Promise<never>((_, reject) => {
    stop = onDeadline(timeout_ms, database.bytesRead, () => {
      timeout = new DatabaseTimeoutError(timeout_ms, driver.state ? "unknown" : "not_applied");
      reject(timeout);
      abandon(driver);
    });
  });
  try {
    return await Promise.race([query, deadline]);
  } catch (error) {
    throw timeout ?? (driver.state ? error : certainlyNotApplied(error));
  } finally {
    stop();
    if (timeout) query.catch(() => {});
  }
}

/** `query.cancel()` drops the promise of its own connection, and a server that is away would end the process with it. */
function abandon(query: Sent): void {
  query.canceller?.(query).catch(() => {});
}
