import type { AuditAction, JsonObject } from "@atlasqueue/contract";
import { recordActs, type Deps } from "@atlasqueue/core/internal";
import type { Output } from "./output.ts";

const not_over_http = { request_id: null, address: null, refused: null };
type Done = { tenant: string; action: AuditAction; target: string; detail: JsonObject | null };

/**
 * Write the audit entry of an act that someone with access to the database did without the API. It comes last: the act is
 * done, and what was printed may be the only copy of a token, so an entry that cannot be written must not keep it back.
 *
 * @example
 * await note(deps, output, { tenant, action: "token.revoke", target: id, detail: null });
 */
export async function note(deps: Pick<Deps, "database">, output: Output, done: Done): Promise<void> {
  const actor = { kind: "operator", token_id: null, name: null } as const;
  await recordActs(deps, [{ ...done, actor, count: null, ...not_over_http }]).catch((error: unknown) =>
    output.tell(`Done, but writing the audit entry failed: ${String(error)}\n`),
  );
}
