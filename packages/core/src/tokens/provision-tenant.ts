import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { newTenant } from "./token.ts";
import { createToken, type CreateTokenOutcome } from "./create.ts";

export type Provisioned = {
  tenant: string;
  /** False when the email had its tenant already. */
  created: boolean;
  token: CreateTokenOutcome;
};

/**
 * The tenant of an email, made when it has none, and a new token for all of it: tokens are not stored, so an earlier one
 * cannot be told again; it goes on working. Case makes no other email.
 *
 * @example
 * const { tenant, created, token } = await provisionTenant(deps, "ops@example.com");
 */
export async function provisionTenant(deps: Deps, email: string): Promise<Provisioned> {
  const execute = executeOn(deps.database);
  const params = [newTenant(), email.toLowerCase()];
  const [made] = await execute<{ tenant: string }>({ text: insert, params });
  // A statement of its own: the snapshot of the first may be older than a row that it met.
  const [found] = made ? [made] : await execute<{ tenant: string }>({ text: find, params: params.slice(1) });
  if (!found) throw new Error("a tenant vanished while it was provisioned");
  const { tenant } = found;
  const created = made !== undefined;
  deps.observe({ event: "tenant_provisioned", tenant, created });
  const token = await createToken(deps, { tenant, name: "provisioned", scopes: ["admin"] });
  return { tenant, created, token };
}

const insert = "INSERT INTO tenants (tenant, email) VALUES ($1, $2) ON CONFLICT (email) DO NOTHING RETURNING tenant";
const find = "SELECT tenant FROM tenants WHERE email = $1";
