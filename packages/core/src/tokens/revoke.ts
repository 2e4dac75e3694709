import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * Delete a token; no process takes it for longer than the few seconds that it remembers tokens. False when there is
 * none with this id, or it is another tenant's.
 *
 * @example
 * const known = await revokeToken(deps, "default", id);
 */
export async function revokeToken(deps: Deps, tenant: string, id: string): Promise<boolean> {
  const gone = await executeOn(deps.database)({
    text: "DELETE FROM tokens WHERE tenant = $1 AND id = $2::text::uuid RETURNING id",
    params: [tenant, id],
  });
  if (gone.length === 0) return false;
  deps.observe({ event: "token_revoked", tenant, token_id: id });
  return true;
}
