import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { endSessionsBefore } from "./rows.ts";

/**
 * Delete a token; no process accepts it beyond the few seconds it remembers tokens for. False when there is none with
 * this id, or it is another tenant's.
 *
 * @example
 * const known = await revokeToken(deps, "default", id);
 */
export async function revokeToken(deps: Deps, tenant: string, id: string): Promise<boolean> {
  const gone = await executeOn(deps.database)<{ id: string }>({ text: revoke, params: [tenant, id] });
  if (gone.length === 0) return false;
  deps.observe({ event: "token_revoked", tenant, token_id: id });
  return true;
}

const revoke = composed(
  "tokens/revoke",
  ["tenant", "id"],
  `
  WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND ${lockTimeout} RETURNING id
  ), ${endSessionsBefore("gone")}
  SELECT id FROM gone`,
);
