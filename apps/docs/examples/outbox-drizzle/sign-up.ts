import type { Queue } from "@atlasqueue/core";
import { pgTable, text } from "drizzle-orm/pg-core";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";

export const users = pgTable("users", { email: text().primaryKey() });

/** No outbox table: the job is a row of the same transaction. */
export async function signUp(db: PostgresJsDatabase, queue: Queue, email: string): Promise<string> {
  const job = await db.transaction(async (tx) => {
    await tx.insert(users).values({ email });
    return queue.submitIn(tx, { type: "welcome.send", payload: { email }, idempotency_key: `welcome-${email}` });
  });
  await queue.announce(job);
  return job.id;
}
