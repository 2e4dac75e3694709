import { composed } from "../database/composed.ts";
import { afterSome } from "../database/errors.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { tenantOf } from "./token.ts";
import { createToken, type CreateTokenOutcome, type TokenWish } from "./create.ts";

export type Provisioned = {
  tenant: string;
  /** False when the email already had its tenant. */
  created: boolean;
  token: CreateTokenOutcome;
};

/**
 * The tenant of an email, created when there is none, and a new token for all of it: tokens are not stored, so an
 * earlier one cannot be shown again; it goes on working. Case does not matter in emails.
 *
 * @example
 * const { tenant, created, token } = await provisionTenant(deps, "ops@example.com");
 */
export async function provisionTenant(deps: Deps, email: string): Promise<Provisioned> {
  const tenant = tenantOf(email);
  const made = await executeOn(deps.database)({ text: insert, params: [tenant, email.toLowerCase()] });
  const created = made.length > 0;
  deps.observe({ event: "tenant_provisioned", tenant, created });
  const wish: TokenWish = { tenant, name: "provisioned", scopes: ["admin"] };
  const token = await createToken(deps, wish).catch(afterSome(created));
  return { tenant, created, token };
}

const insert = composed(
  "tokens/provision-tenant",
  ["tenant", "email"],
  "INSERT INTO atlasqueue.tenants (tenant, email) VALUES ($1, $2) ON CONFLICT (tenant) DO NOTHING RETURNING tenant",
);
