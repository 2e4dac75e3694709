import type { PgRemoteDatabase } from "drizzle-orm/pg-proxy";
import { DrizzleQueryError, queryBuilder } from "./drizzle.ts";
import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { inTurn } from "./pool/fair-share.ts";
import { sentWhole } from "./statement.ts";

/**
 * Run a statement made with drizzle's query builder, under the database's deadline: for plain reads and writes, whose
 * rows then have the types of the schema. What guards a plan or a race is text (`executeOn`). Fails as `executeOn` does.
 *
 * @example
 * const rows = await plain(database, (db) => db.select().from(jobs).where(and(eq(jobs.tenant, tenant), eq(jobs.id, id))));
 */
export async function plain<T>(database: Database, query: (db: PgRemoteDatabase) => PromiseLike<T>): Promise<T> {
  const db = queryBuilder((text, params: string[]) =>
    inTurn(database, async (began_at) => {
      const sent = database.sql.unsafe(database.schema.fill(text), params, sentWhole).values();
      return { rows: [...(await bounded(database, sent as never, database.timeout_ms, began_at))] };
    }),
  );
  try {
    return await query(db);
  } catch (error) {
    // The builder puts the statement and its values around it; everybody else looks at the database's own.
    throw error instanceof DrizzleQueryError ? (error.cause ?? error) : error;
  }
}
