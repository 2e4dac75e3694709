import type { Database } from "../connect.ts";
import { isCut } from "../errors.ts";

/** A database that is there answers sooner, and whoever waits for one that is away should know soon. */
const again_ms_max = 500;

/**
 * Do once more what failed as its connection was cut, to learn whether the database is away or only that connection is.
 * `work` must do no harm when it is done twice.
 *
 * @example
 * await onceMore(deps.database, (database) => extendLeases({ database }, leases, 30));
 */
export async function onceMore<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  try {
    return await work(database);
  } catch (error) {
    if (!isCut(error)) throw error;
    return work({ ...database, timeout_ms: Math.min(again_ms_max, database.timeout_ms) });
  }
}
