import { and, eq } from "../database/drizzle.ts";
import { plain } from "../database/plain.ts";
import { tokens } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";

/**
 * Delete a token; no process accepts it beyond the few seconds it remembers tokens for. False when there is none with
 * this id, or it is another tenant's.
 *
 * @example
 * const known = await revokeToken(deps, "default", id);
 */
export async function revokeToken(deps: Deps, tenant: string, id: string): Promise<boolean> {
  const gone = await plain(deps.database, (db) =>
    db
      .delete(tokens)
      .where(and(eq(tokens.tenant, tenant), eq(tokens.id, id)))
      .returning({ id: tokens.id }),
  );
  if (gone.length === 0) return false;
  deps.observe({ event: "token_revoked", tenant, token_id: id });
  return true;
}
