import { expect, test } from "vitest";
import { hashToken, isToken, newTenant, newToken } from "./token.ts";

test("a token is aq_ and 256 random bits, and stored as its hash and its beginning", () => {
  const { token, hash, hint } = newToken();
  expect(token).toMatch(/^aq_[A-Za-z0-9_-]{43}$/);
  expect(isToken(token)).toBe(true);
  expect(hash).toBe(hashToken(token));
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(token.startsWith(hint)).toBe(true);
  expect(hint).toHaveLength(9);
  expect(newToken().token).not.toBe(token);
});

test("a tenant's name can stand in a key of Redis", () => {
  expect(newTenant()).toMatch(/^t_[0-9a-f]{16}$/);
});
