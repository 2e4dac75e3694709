import { randomBytes } from "node:crypto";
import { eq } from "../database/drizzle.ts";
import type { Database } from "../database/connect.ts";
import { plain } from "../database/plain.ts";
import { signingKeys } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";

const key_bytes = 32;

/**
 * The key that all processes on this database sign with, for one purpose; the first to ask makes it. In the database,
 * so that one API process accepts what another signed, with nothing to set up.
 *
 * @example
 * const key = await signingKey({ database }, "cursors");
 */
export async function signingKey({ database }: Pick<Deps, "database">, name: "cursors"): Promise<Uint8Array> {
  const there = await find(database, name);
  if (there) return there;
  await plain(database, (db) =>
    db
      .insert(signingKeys)
      .values({ name, key: randomBytes(key_bytes) })
      .onConflictDoNothing(),
  );
  // Another process may have been first.
  const kept = await find(database, name);
  if (!kept) throw new Error(`the signing key ${name} was neither found nor kept`);
  return kept;
}

async function find(database: Database, name: string): Promise<Uint8Array | undefined> {
  const { key } = signingKeys;
  const [row] = await plain(database, (db) => db.select({ key }).from(signingKeys).where(eq(signingKeys.name, name)));
  return row?.key;
}
