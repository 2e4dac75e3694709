import { limits } from "@atlasqueue/contract";
import { forFile, testCore } from "@atlasqueue/harness";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { defaultTenant } from "../deps.ts";
import { hashToken } from "./token.ts";
import { findTokens, noteTokenUse } from "./find.ts";
import { listTokens } from "./rows.ts";
import { createToken, type TokenWish, rotateToken, revokeToken } from "./create.ts";
import { provisionTenant } from "./provision-tenant.ts";
import { tenantOf } from "./token.ts";
import { openSession } from "./session.ts";

const tenant = defaultTenant;
const deps = forFile(testCore);
beforeAll(async () => {
  await deps.database.sql`INSERT INTO atlasqueue.tenants (tenant) VALUES ('other')`;
});
beforeEach(async () => {
  await deps.database.sql`DELETE FROM atlasqueue.tokens`;
});

async function create(wish: Partial<TokenWish> = {}) {
  const made = await createToken(deps, { tenant, name: "ci", scopes: ["submit", "read"], ...wish });
  if (made.kind !== "created") throw new Error(made.kind);
  return made;
}
const find = async (token: string) => (await findTokens(deps, [hashToken(token)])).get(hashToken(token));
const expire = (id: string) =>
  deps.database.sql`UPDATE atlasqueue.tokens SET expires_at = now() - interval '1 second' WHERE id = ${id}`;

test("a token is found by its hash, which is all that is stored of it", async () => {
  const name = 'a "name", {with} \\\\ signs';
  const { token, row } = await create({ name, scopes: ["work", "work", "read"] });
  expect(row).toMatchObject({ name, scopes: ["work", "read"], hint: token.slice(0, 9) });
  expect(row).toMatchObject({ expires_at: null, last_used_at: null, created_at: expect.any(Date) });
  expect(await find(token)).toEqual({ id: row.id, name, tenant, scopes: ["work", "read"], expires_in_ms: null });
  expect(await find(token.toUpperCase())).toBeUndefined();
  const [stored] = await deps.database.sql`SELECT tokens::text AS text FROM atlasqueue.tokens`;
  expect(stored?.text).toContain(hashToken(token));
  expect(stored?.text).not.toContain(token);
  expect(deps.events).toContainEqual({ event: "token_created", tenant, token_id: row.id });
});

test("an expired token is not found", async () => {
  const { token, row } = await create({ expires_in_seconds: 60 });
  const found = await find(token);
  expect(found?.expires_in_ms).toBeGreaterThan(50_000);
  expect(found?.expires_in_ms).toBeLessThanOrEqual(60_000);
  await expire(row.id);
  expect(await find(token)).toBeUndefined();
  expect(await listTokens(deps, tenant)).toEqual([]);
});

test("the list has a tenant's own valid tokens, newest first", async () => {
  const first = await create();
  const second = await create();
  await create({ tenant: "other" });
  expect((await listTokens(deps, tenant)).map((row) => row.id)).toEqual([second.row.id, first.row.id]);
});

test("rotating gives a token of the same kind, and the old one works during the overlap", async () => {
  const old = await create({ name: "deploy" });
  const rotated = await rotateToken(deps, { tenant, id: old.row.id, overlap_seconds: 600 });
  if (rotated.kind !== "rotated") throw new Error(rotated.kind);
  expect(rotated.row).toMatchObject({ name: "deploy", scopes: ["submit", "read"], expires_at: null });
  expect(rotated.row.created_at).toBeInstanceOf(Date);
  expect(rotated.token).not.toBe(old.token);
  expect((await find(rotated.token))?.id).toBe(rotated.row.id);
  const left = (await find(old.token))?.expires_in_ms ?? 0;
  expect(left).toBeGreaterThan(590_000);
  expect(left).toBeLessThanOrEqual(600_000);
});

test("rotated again and again, a token leaves no rows behind but the last two", async () => {
  let { id } = (await create()).row;
  for (let time = 0; time < 4; time += 1) {
    const rotated = await rotateToken(deps, { tenant, id, overlap_seconds: 0 });
    if (rotated.kind !== "rotated") throw new Error(rotated.kind);
    id = rotated.row.id;
  }
  expect(await deps.database.sql`SELECT FROM atlasqueue.tokens`).toHaveLength(2);
});

test("of five simultaneous rotations one wins and the others name the successor; once that is revoked, it can be rotated again", async () => {
  const old = await create();
  const wish = { tenant, id: old.row.id, overlap_seconds: 600 };
  const all = await Promise.all(Array.from({ length: 5 }, () => rotateToken(deps, wish)));
  const [won, ...others] = all.filter((outcome) => outcome.kind === "rotated");
  expect(others).toEqual([]);
  const successor = won?.kind === "rotated" ? won.row.id : "";
  expect(all.filter((outcome) => outcome.kind !== "rotated")).toEqual(
    Array.from({ length: 4 }, () => ({ kind: "rotated_before", successor })),
  );
  expect(await listTokens(deps, tenant)).toHaveLength(2);
  expect(await revokeToken(deps, tenant, successor)).toBe(true);
  expect((await rotateToken(deps, wish)).kind).toBe("rotated");
});

test("a token never outlives its maker, and one that is gone makes none", async () => {
  const maker = await create({ expires_in_seconds: 60 });
  const made_by = maker.row.id;
  const wish = { tenant, name: "x", scopes: ["read" as const], made_by };
  expect(await createToken(deps, { ...wish, expires_in_seconds: 61 })).toEqual({
    kind: "outlives",
    seconds_max: expect.toSatisfy((seconds: number) => seconds > 30 && seconds <= 60),
  });
  const [open, short] = [await create({ made_by }), await create({ made_by, expires_in_seconds: 5 })];
  expect(open.row.expires_at).toEqual(maker.row.expires_at);
  expect(short.row.expires_at?.getTime()).toBeLessThan(maker.row.expires_at?.getTime() ?? 0);
  // A rotation does not extend a life either: not its own token's, not another's.
  const eternal = await create();
  for (const id of [eternal.row.id, short.row.id, made_by]) {
    const rotated = await rotateToken(deps, { tenant, id, overlap_seconds: 60, made_by });
    if (rotated.kind !== "rotated") throw new Error(rotated.kind);
    expect(rotated.row.expires_at?.getTime()).toBeLessThanOrEqual(maker.row.expires_at?.getTime() ?? 0);
  }
  await expire(made_by);
  expect(await createToken(deps, wish)).toEqual({ kind: "maker_gone" });
  const late = { tenant, id: open.row.id, overlap_seconds: 0, made_by };
  expect(await rotateToken(deps, late)).toEqual({ kind: "maker_gone" });
  const foreign = await create({ tenant: "other" });
  expect(await createToken(deps, { ...wish, made_by: foreign.row.id })).toEqual({ kind: "maker_gone" });
});

test("an overlap does not extend the old token's life, and the new one lives as long as the old was made for", async () => {
  const old = await create({ expires_in_seconds: 60 });
  const rotated = await rotateToken(deps, { tenant, id: old.row.id, overlap_seconds: 3_600 });
  if (rotated.kind !== "rotated") throw new Error(rotated.kind);
  expect((await find(old.token))?.expires_in_ms).toBeLessThanOrEqual(60_000);
  const { created_at, expires_at } = rotated.row;
  expect((expires_at?.getTime() ?? 0) - created_at.getTime()).toBe(60_000);
});

test("without overlap the old token ends at once", async () => {
  const old = await create();
  await rotateToken(deps, { tenant, id: old.row.id, overlap_seconds: 0 });
  expect(await find(old.token)).toBeUndefined();
});

test.each([
  ["without an end", undefined],
  ["with one", 86_400],
])("a token %s that is rotated again, as its successor was revoked, gives its own lifetime", async (_, lifetime) => {
  const old = await create(lifetime ? { expires_in_seconds: lifetime } : {});
  const wish = { tenant, id: old.row.id, overlap_seconds: 60 };
  const lifetimes: (number | null)[] = [];
  for (let time = 0; time < 3; time += 1) {
    const rotated = await rotateToken(deps, wish);
    if (rotated.kind !== "rotated") throw new Error(rotated.kind);
    const { id, created_at, expires_at } = rotated.row;
    lifetimes.push(expires_at && Math.round((expires_at.getTime() - created_at.getTime()) / 1_000));
    await revokeToken(deps, tenant, id);
  }
  expect(new Set(lifetimes)).toEqual(new Set([lifetime ?? null]));
});

test("another tenant's token, and one that is gone, can be neither rotated nor revoked", async () => {
  const { row, token } = await create({ tenant: "other" });
  expect(await rotateToken(deps, { tenant, id: row.id, overlap_seconds: 0 })).toEqual({ kind: "unknown" });
  expect(await revokeToken(deps, tenant, row.id)).toBe(false);
  expect(await find(token)).toBeDefined();
  expect(await revokeToken(deps, "other", row.id)).toBe(true);
  expect(await revokeToken(deps, "other", row.id)).toBe(false);
  expect(await rotateToken(deps, { tenant: "other", id: row.id, overlap_seconds: 0 })).toEqual({ kind: "unknown" });
});

test("a tenant has as many valid tokens as its list shows; expired ones make room", async () => {
  const { sql } = deps.database;
  await sql`
    INSERT INTO atlasqueue.tokens (id, tenant, name, hash, hint, scopes)
    SELECT gen_random_uuid(), ${tenant}, 'many', decode(md5(n::text), 'hex'), 'aq_', '{read}'
    FROM generate_series(1, ${limits.tokens_max - 1}::int) AS n`;
  const last = await create();
  expect(await createToken(deps, { tenant, name: "x", scopes: ["read"] })).toEqual({ kind: "too_many" });
  expect(await rotateToken(deps, { tenant, id: last.row.id, overlap_seconds: 60 })).toEqual({ kind: "too_many" });
  expect((await find(last.token))?.expires_in_ms).toBeNull();
  expect((await create({ tenant: "other" })).kind).toBe("created");
  await expire(last.row.id);
  await create();
  expect(await sql`SELECT FROM atlasqueue.tokens WHERE id = ${last.row.id}`).toHaveLength(0);
  expect(await listTokens(deps, tenant)).toHaveLength(limits.tokens_max);
});

test("an email has one tenant, and gets another token each time", async () => {
  const [first, again] = [await provisionTenant(deps, "a@b.c"), await provisionTenant(deps, "A@B.C")];
  expect(first.tenant).toBe(tenantOf("a@b.c"));
  expect([first.created, again.created]).toEqual([true, false]);
  expect(again.tenant).toBe(first.tenant);
  for (const { token } of [first, again])
    expect(token.kind === "created" && (await find(token.token))).toMatchObject({
      tenant: first.tenant,
      scopes: ["admin"],
    });
});

test("20 provisions of one email at once make one tenant", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => provisionTenant(deps, "race@b.c")));
  expect(new Set(all.map((one) => one.tenant)).size).toBe(1);
  expect(all.filter((one) => one.created)).toHaveLength(1);
});

test("the latest use of a token stays, even if an older one is recorded late", async () => {
  const { row } = await create();
  await noteTokenUse(deps, [{ tenant, id: row.id, ms_ago: 1_000 }]);
  const [one] = await listTokens(deps, tenant);
  await noteTokenUse(deps, [{ tenant, id: row.id, ms_ago: 60_000 }]);
  const [two] = await listTokens(deps, tenant);
  expect(one?.last_used_at).toBeInstanceOf(Date);
  expect(two?.last_used_at).toEqual(one?.last_used_at);
});

test("sessions that ended as their token was replaced do not come back when its successor is revoked, or expires", async () => {
  for (const successor of ["revoked", "expired"]) {
    const { row } = await create();
    const opened = await openSession(deps, { tenant, token_id: row.id });
    const hash = opened?.hash ?? "";
    const session = async () => (await findTokens(deps, [hash])).get(hash);
    expect(await session()).toMatchObject({ id: row.id });
    const rotated = await rotateToken(deps, { tenant, id: row.id, overlap_seconds: 3_600 });
    if (rotated.kind !== "rotated") throw new Error(rotated.kind);
    expect(await session()).toBeUndefined();
    if (successor === "revoked") expect(await revokeToken(deps, tenant, rotated.row.id)).toBe(true);
    else {
      await expire(rotated.row.id);
      await create();
    }
    expect(await session()).toBeUndefined();
    // The token itself works on, and opens new ones.
    expect(await openSession(deps, { tenant, token_id: row.id })).toBeDefined();
  }
});
