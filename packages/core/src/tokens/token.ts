import { hash, randomBytes } from "node:crypto";

/** The text of a token: 256 random bits, so that its hash needs no salt and none can be guessed, and a checksum. */
const pattern = /^(aq_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})?$/;
/** A session's text is like a token's, under a name of its own: neither can be used as the other. */
const sessionPattern = /^(aqs_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/;
const checksum_chars = 6;
const hint_chars = 9;

/** The token as its holder keeps it, and what we store of it. */
export type NewToken = { token: string; hash: string; hint: string };

/**
 * A new token. Tests may pass the random bytes.
 *
 * @example
 * const { token, hash, hint } = newToken(); // token: "aq_…", shown once
 */
export function newToken(random: Uint8Array = randomBytes(32)): NewToken {
  const secret = `aq_${Buffer.from(random).toString("base64url")}`;
  const token = secret + checksum(secret);
  return { token, hash: hashToken(token), hint: token.slice(0, hint_chars) };
}

/**
 * What a text can be: one that cannot be a token is refused without asking the database. Tokens from before the
 * checksum are `unchecked`: they work until they are rotated, and only the database can tell them from guesses.
 */
export function tokenForm(text: string): "checked" | "unchecked" | undefined {
  const [, secret, sum] = pattern.exec(text) ?? [];
  if (secret === undefined) return undefined;
  if (sum === undefined) return "unchecked";
  return sum === checksum(secret) ? "checked" : undefined;
}

/** The text of a new session, and what is stored of it. */
export function newSession(random: Uint8Array = randomBytes(32)): { session: string; hash: string } {
  const secret = `aqs_${Buffer.from(random).toString("base64url")}`;
  const session = secret + checksum(secret);
  return { session, hash: hashToken(session) };
}

/** Whether a text can be a session's. */
export function isSessionText(text: string): boolean {
  const [, secret, sum] = sessionPattern.exec(text) ?? [];
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

/** The name of a new tenant: part of Redis keys, so only letters and digits. */
export function newTenant(random: Uint8Array = randomBytes(8)): string {
  return `t_${Buffer.from(random).toString("hex")}`;
}
