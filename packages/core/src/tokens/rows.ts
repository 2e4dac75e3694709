import { limits, type Scope } from "@atlasqueue/contract";

/** A token as it is read: never its hash. */
export type TokenRow = {
  id: string;
  name: string;
  hint: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
};

/** A stored token, with the text that is shown this once. */
export type MadeToken = { token: string; row: TokenRow };

export const tokenColumns = "id, name, hint, to_json(scopes) AS scopes, created_at, expires_at, last_used_at";

/** Of a row of `tokens` that works now. */
export const isLive = "(tokens.expires_at IS NULL OR tokens.expires_at > now())";

/** The token that asks for another one: the tenant's $1, and that of the caller, or none, in this parameter. */
export const madeBy = (parameter: string) =>
  `(SELECT id, expires_at FROM tokens WHERE tenant = $1 AND id = nullif(${parameter}::text, '')::uuid AND ${isLive})`;

/**
 * A tenant's working tokens are as many as its list shows, so that none can hide. Of the tenant $1. Two callers at once
 * may get one past it, which does no harm.
 */
export const roomForAnother = `(SELECT count(*) FROM tokens WHERE tenant = $1 AND ${isLive}) < ${limits.tokens_max}`;
