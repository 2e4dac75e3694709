import { createdToken, tokenList, type CreatedToken } from "@atlasqueue/contract";
import { listTokens, defaultTenant } from "@atlasqueue/core/internal";
import { findTokens, hashToken } from "@atlasqueue/core/internal/http";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeToken } from "../../test/guarded-app.ts";
import { testApp } from "../../test/test-app.ts";
import { createTokenUses } from "../access/token-use.ts";

const api = forFile(guardedApp);
let admin: string;
beforeAll(async () => void (admin = (await api.token("admin")).token));

async function create(body: unknown): Promise<CreatedToken> {
  const response = await api.send("POST", "/v1/tokens", admin, body);
  expect(response.status).toBe(201);
  return createdToken.parse(await response.json());
}
const works = async (token: string) => (await findTokens(api.deps, [hashToken(token)])).size > 0;

test("a token is made, shown once, listed without its text, and lets its holder in", async () => {
  const made = await create({ name: "ci", scopes: ["submit"], expires_in_seconds: 3_600 });
  expect(Date.parse(made.expires_at ?? "") - Date.parse(made.created_at)).toBe(3_600_000);
  expect(made.token.startsWith(made.hint)).toBe(true);
  expect((await api.post("a", { type: "a" }, { authorization: `Bearer ${made.token}` })).status).toBe(201);
  const response = await api.send("GET", "/v1/tokens", admin);
  const text = await response.text();
  expect(text).not.toContain(made.token);
  expect(tokenList.parse(JSON.parse(text)).items[0]).toMatchObject({ id: made.id, name: "ci", scopes: ["submit"] });
});

test("rotating answers with a new token, and keeps the old one during the overlap", async () => {
  const old = await create({ name: "deploy", scopes: ["read"] });
  const response = await api.send("POST", `/v1/tokens/${old.id.toUpperCase()}/rotate`, admin, { overlap_seconds: 60 });
  expect(response.status).toBe(201);
  const made = createdToken.parse(await response.json());
  expect(made).toMatchObject({ name: "deploy", scopes: ["read"], expires_at: null });
  expect([await works(old.token), await works(made.token)]).toEqual([true, true]);
  await api.send("POST", `/v1/tokens/${made.id}/rotate`, admin, { overlap_seconds: 0 });
  expect(await works(made.token)).toBe(false);
});

test("a token's use is recorded, once for many requests", async () => {
  const { id } = await create({ name: "used", scopes: ["read"] });
  const uses = createTokenUses(api.deps, 20);
  for (let times = 0; times < 100; times += 1) uses.note(defaultTenant, id);
  const lastUse = async () => (await listTokens(api.deps, defaultTenant)).find((row) => row.id === id)?.last_used_at;
  expect(await lastUse()).toBeNull();
  await eventually(async () => expect(await lastUse()).toBeInstanceOf(Date));
  const later = createTokenUses(api.deps);
  later.note(defaultTenant, id);
  const before = await lastUse();
  await later.close();
  expect((await lastUse())?.getTime()).toBeGreaterThan(before?.getTime() ?? Infinity);
});

test("a token makes none that outlives it", async () => {
  const short = await create({ name: "short", scopes: ["admin"], expires_in_seconds: 600 });
  const ask = (body: object) => api.send("POST", "/v1/tokens", short.token, { name: "x", scopes: ["read"], ...body });
  const refused = await ask({ expires_in_seconds: 3_600 });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    errors: [{ pointer: "/expires_in_seconds", message: expect.stringMatching(/^must be at most \d+, .*; got 3600$/) }],
  });
  const made = createdToken.parse(await (await ask({})).json());
  expect(made.expires_at).toBe(short.expires_at);
});

test("of simultaneous rotations one wins; the others are 409 and name its token", async () => {
  const old = await create({ name: "deploy", scopes: ["read"] });
  const rotate = () => api.send("POST", `/v1/tokens/${old.id}/rotate`, admin, {});
  const answers = await Promise.all(Array.from({ length: 5 }, rotate));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  const made = createdToken.parse(await answers.find(({ status }) => status === 201)?.json());
  expect(await answers.find(({ status }) => status === 409)?.json()).toMatchObject({
    type: "/problems/token-rotated",
    detail: expect.stringContaining(made.id),
  });
});

test("while identities are not checked, no token is made", async () => {
  const open = await testApp();
  const send = (path: string, body: object) => open.send("POST", path, undefined, body);
  const id = (await makeToken(open.deps, ["read"])).id;
  for (const answer of [
    await send("/v1/tokens", { name: "x", scopes: ["admin"] }),
    await send(`/v1/tokens/${id}/rotate`, {}),
  ]) {
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining("AUTH=disabled") });
  }
  expect(await listTokens(open.deps, defaultTenant)).toHaveLength(1);
  await open.stop();
});

test("any token may revoke itself, and only one with admin another", async () => {
  const [own, other] = [await api.token("work"), await api.token("work")];
  expect((await api.send("DELETE", `/v1/tokens/${other.id}`, own.token)).status).toBe(404);
  expect((await api.send("DELETE", `/v1/tokens/${own.id}`, own.token)).status).toBe(204);
  expect([await works(own.token), await works(other.token)]).toEqual([false, true]);
});
