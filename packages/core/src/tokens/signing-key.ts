import { randomBytes } from "node:crypto";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

const key_bytes = 32;

/**
 * The key that all processes on this database sign with, for one purpose: made by whoever asks first. In the database, so
 * that what one API process signed another one takes, with nothing to set up.
 *
 * @example
 * const key = await signingKey({ database }, "cursors");
 */
export async function signingKey(deps: Pick<Deps, "database">, name: "cursors"): Promise<Uint8Array> {
  const execute = executeOn(deps.database);
  const [there] = await execute<{ key: string }>({ text: find, params: [name] });
  if (there) return Buffer.from(there.key, "hex");
  await execute({ text: keep, params: [name, randomBytes(key_bytes).toString("hex")] });
  // Another process may have been first.
  const [kept] = await execute<{ key: string }>({ text: find, params: [name] });
  if (!kept) throw new Error(`the signing key ${name} was neither found nor kept`);
  return Buffer.from(kept.key, "hex");
}

const find = `SELECT encode(key, 'hex') AS key FROM signing_keys WHERE name = $1`;
const keep = `INSERT INTO signing_keys (name, key) VALUES ($1, decode($2, 'hex')) ON CONFLICT DO NOTHING`;
