import type { Database } from "../connect.ts";
import { DatabaseTimeoutError, isUnavailable } from "../errors.ts";

/**
 * Do what must not wait until a connection is free, such as renewing leases: those that have them may all wait for a lock
 * on something that this does not need. While all of the pool's are busy it is sent by the one beside them or, where that
 * cannot be had, by the pool after all: `work` must do no harm when it is done twice.
 *
 * @example
 * const { lost } = await evenIfBusy(deps.database, (database) => extendLeases({ database }, leases, 30));
 */
export async function evenIfBusy<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  const { busy, max } = database.connections();
  if (busy < max) return work(database);
  try {
    return await work({ ...database, sql: database.spare });
  } catch (error) {
    // One that is late would be late there too.
    if (!isUnavailable(error) || error instanceof DatabaseTimeoutError) throw error;
    return work(database);
  }
}
