import { hash, randomBytes } from "node:crypto";

/** The text of a token: 256 random bits, so that its hash needs no salt and nobody guesses one. */
const pattern = /^aq_[A-Za-z0-9_-]{43}$/;
const hint_chars = 9;

/** The token as its holder keeps it, and what is stored of it. */
export type NewToken = { token: string; hash: string; hint: string };

/**
 * A new token. The random bytes may be given, which is for tests.
 *
 * @example
 * const { token, hash, hint } = newToken(); // token: "aq_…", shown once
 */
export function newToken(random: Uint8Array = randomBytes(32)): NewToken {
  const token = `aq_${Buffer.from(random).toString("base64url")}`;
  return { token, hash: hashToken(token), hint: token.slice(0, hint_chars) };
}

/** Whether a text can be a token at all: one that cannot is refused without asking the database. */
export function isToken(text: string): boolean {
  return pattern.test(text);
}

/** What stands for a token in the database and in memory: SHA-256, in hex. */
export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** The name of a new tenant: part of keys in Redis, so of letters and digits alone. */
export function newTenant(random: Uint8Array = randomBytes(8)): string {
  return `t_${Buffer.from(random).toString("hex")}`;
}
