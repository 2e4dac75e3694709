import { expect, test } from "vitest";
import { hashToken, isTokenText, newToken, tenantOf } from "./token.ts";

test("a token is aq_, 256 random bits and a checksum, stored as its hash and its first characters", () => {
  const { token, hash, hint } = newToken();
  expect(token).toMatch(/^aq_[A-Za-z0-9_-]{49}$/);
  expect(isTokenText(token)).toBe(true);
  expect(hash).toBe(hashToken(token));
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(token.startsWith(hint)).toBe(true);
  expect(hint).toHaveLength(9);
  expect(newToken().token).not.toBe(token);
});

test("an email's tenant has a name that can be part of a Redis key", () => {
  expect(tenantOf("a@b.c")).toMatch(/^t_[0-9a-f]{32}$/);
  expect(tenantOf("A@B.C")).toBe(tenantOf("a@b.c"));
  expect(tenantOf("a@b.d")).not.toBe(tenantOf("a@b.c"));
});

test("a truncated, mistyped or guessed token is recognized by its checksum", () => {
  const { token } = newToken();
  const other = token.endsWith("A") ? "B" : "A";
  for (const wrong of [
    token.slice(0, -1),
    token.slice(0, -1) + other,
    `aq_${other}${other}${token.slice(5)}`,
    `${token}A`,
    token.slice(0, 46),
    "",
  ])
    expect(isTokenText(wrong), wrong).toBe(false);
});
