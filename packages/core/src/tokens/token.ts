import { hash, randomBytes } from "node:crypto";

/** The text of a token: 256 random bits, so that its hash needs no salt and none can be guessed, and a checksum. */
const pattern = /^(aq_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/;
/** A session's text is like a token's, under a name of its own: neither can be used as the other. */
const sessionPattern = /^(aqs_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/;
const checksum_chars = 6;
const secret_bytes = 32;
const hint_chars = 9;
/** 128 bits: no two emails have the same. */
const tenant_chars = 32;

/** The token as its holder keeps it, and what we store of it. */
export type NewToken = { token: string; hash: string; hint: string };

/**
 * A new token, or the text of a new session.
 *
 * @example
 * const { token, hash, hint } = newToken(); // token: "aq_…", shown once
 */
export function newToken(prefix: "aq" | "aqs" = "aq"): NewToken {
  const secret = `${prefix}_${randomBytes(secret_bytes).toString("base64url")}`;
  const token = secret + checksum(secret);
  return { token, hash: hashToken(token), hint: token.slice(0, hint_chars) };
}

/** Whether a text can be a token's: one that cannot is refused without asking the database. */
export const isTokenText = (text: string): boolean => isWhole(pattern.exec(text));

/** Whether a text can be a session's. */
export const isSessionText = (text: string): boolean => isWhole(sessionPattern.exec(text));

function isWhole(found: RegExpExecArray | null): boolean {
  const [, secret, sum] = found ?? [];
  return secret !== undefined && sum === checksum(secret);
}

/** 36 bits: of typos and guesses one in 69,000,000,000 passes. It is not a secret and guards none. */
function checksum(secret: string): string {
  return hash("sha256", secret, "base64url").slice(0, checksum_chars);
}

/** What stands for a token in the database and in memory: SHA-256, in hex. */
export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** The name of the tenant of an email: part of Redis keys, so only letters and digits. Case does not matter in emails. */
export function tenantOf(email: string): string {
  return `t_${hash("sha256", email.toLowerCase(), "hex").slice(0, tenant_chars)}`;
}
