import { drizzle, type PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";

/**
 * drizzle's query builder on a pool, each statement under the database's deadline: for plain reads and writes, whose
 * rows then have the schema's types. What guards a plan or a race is text (`executeOn`).
 *
 * @example
 * const rows = await plain(database).select().from(jobs).where(and(eq(jobs.tenant, tenant), eq(jobs.id, id)));
 */
export function plain(database: Database): PgRemoteDatabase {
  return drizzle(async (text, params: string[]) => {
    const query = database.sql.unsafe(text, params, { prepare: true }).values();
    return { rows: [...(await bounded(database, query as never))] };
  });
}
