import type postgres from "postgres";
import type { Database } from "./connect.ts";
import { DatabaseTimeoutError } from "./errors.ts";

/**
 * Run a query with the database's deadline. One that is late is taken out of the driver's queue, or cancelled on the
 * server, and throws `DatabaseTimeoutError`: whether it took effect is then unknown.
 *
 * @example
 * const rows = await bounded(database, database.sql`SELECT 1 AS one`);
 */
export async function bounded<T extends readonly postgres.MaybeRow[]>(
  database: Database,
  query: postgres.PendingQuery<T>,
): Promise<postgres.RowList<T>> {
  let late = false;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true;
      reject(new DatabaseTimeoutError(database.timeout_ms));
      abandon(query);
    }, database.timeout_ms);
  });
  try {
    return await Promise.race([query, deadline]);
  } catch (error) {
    throw late ? new DatabaseTimeoutError(database.timeout_ms) : error;
  } finally {
    clearTimeout(timer);
    if (late) query.catch(() => {});
  }
}

/** `query.cancel()` drops the promise of its own connection, and a server that is away would end the process with it. */
function abandon(query: unknown): void {
  const { canceller } = query as { canceller: ((query: unknown) => Promise<void>) | null };
  canceller?.(query).catch(() => {});
}
