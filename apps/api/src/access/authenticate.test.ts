import { connectDatabase } from "@atlasqueue/core";
import { createToken, defaultTenant } from "@atlasqueue/core/internal";
import { newToken } from "../../../../packages/core/src/tokens/token.ts";
import { eventually, forFile } from "@atlasqueue/harness";
import { afterAll, expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { testApp } from "../../test/test-app.ts";
import { requireTokens } from "./authenticate.ts";

const api = forFile(guardedApp);
/** Its tokens are in an absent database. */
const away = forFile(() => testApp({ authenticator: requireTokens({ database: nowhere, observe: () => {} }) }));
const nowhere = connectDatabase({ url: "postgres://127.0.0.1:1/none", connectionsMax: 1, timeoutMs: 500 });
afterAll(() => nowhere.close());

const anId = "/v1/jobs/00000000-0000-0000-0000-000000000000";
const random = () => newToken().token;
const status = async (token: string | undefined, path = "/v1/tokens") => (await api.send("GET", path, token)).status;

test("without a token: 401, and a challenge without an error", async () => {
  const response = await api.send("GET", anId);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe('Bearer realm="atlasqueue"');
  expect(await response.json()).toMatchObject({ type: "/problems/unauthorized", status: 401 });
});

test.each([
  "Basic YTpi",
  "Bearer",
  "Bearer ",
  "Bearer aq_short",
  `Bearer ${random()}x`,
  `Bearer xx${random()}`,
  `Bearer ${random()}, Bearer ${random()}`,
  "Bearer aq_' OR 1=1 --",
])("what cannot be a token is refused without asking the database: %s", async (authorization) => {
  const response = await away.get(anId, { authorization });
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe('Bearer realm="atlasqueue", error="invalid_token"');
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining("aq_ and 49 characters") });
});

test("an unknown token is 401, and looked up only once in a while", async () => {
  const guess = random();
  const response = await api.send("GET", anId, guess);
  expect(response.status).toBe(401);
  expect(await response.text()).not.toContain(guess);
  await api.deps.database.sql`ALTER TABLE atlasqueue.tokens RENAME TO hidden`;
  expect(await status(guess)).toBe(401);
  await api.deps.database.sql`ALTER TABLE atlasqueue.hidden RENAME TO tokens`;
});

test("the scheme's case does not matter, the token's does", async () => {
  const { token } = await api.token("admin");
  expect((await api.get("/v1/tokens", { authorization: `bEARER  ${token}` })).status).toBe(200);
  expect((await api.get("/v1/tokens", { authorization: `Bearer AQ${token.slice(2)}` })).status).toBe(401);
});

test("a revoked token is refused within 5 s by every process", async () => {
  const { database } = api.deps;
  const other = await testApp({ database, authenticator: requireTokens({ ...api.deps, now: () => api.clock.ms }) });
  const { id, token } = await api.token("admin");
  expect(await status(token)).toBe(200);
  expect((await other.send("GET", "/v1/tokens", token)).status).toBe(200);
  expect((await api.send("DELETE", `/v1/tokens/${id}`, token)).status).toBe(204);
  api.clock.ms += 4_999;
  expect(await status(token)).toBe(401);
  expect((await other.send("GET", "/v1/tokens", token)).status).toBe(401);
  await other.stop();
});

test("the few seconds count from the moment of asking, so a slow database does not prolong them", async () => {
  const { token } = await api.token("admin");
  const { sql } = api.deps.database;
  const locked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`LOCK TABLE atlasqueue.tokens IN ACCESS EXCLUSIVE MODE`;
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  const slow = status(token);
  await eventually(async () => {
    const waiting =
      await sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE '%FROM atlasqueue.tokens%'`;
    return waiting.length > 0;
  });
  api.clock.ms += 4_000;
  unlock.resolve();
  await holding;
  expect(await slow).toBe(200);
  await sql`DELETE FROM atlasqueue.tokens WHERE hint = ${token.slice(0, 9)}`;
  expect(await status(token)).toBe(200);
  api.clock.ms += 600;
  expect(await status(token)).toBe(401);
});

test("a token expires by itself, even if just used", async () => {
  const made = await createToken(api.deps, {
    tenant: defaultTenant,
    name: "short",
    scopes: ["admin"],
    expires_in_seconds: 2,
  });
  const token = made.kind === "created" ? made.token : "";
  expect(await status(token)).toBe(200);
  api.clock.ms += 1_999;
  expect(await status(token)).toBe(200);
  await eventually(async () => {
    api.clock.ms += 100;
    expect(await status(token)).toBe(401);
  });
});

const server = (network: string) => ({
  incoming: { headers: {}, socket: { remoteAddress: network }, resume: () => {} },
});

test("made-up tokens, however many, refuse no valid one, and cost the database a few statements", async () => {
  let statements = 0;
  const guarded = await guardedApp(({ database, observe }) => {
    const sql = new Proxy(database.sql, {
      get: (target, name) => {
        if (name === "unsafe") statements += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    return { authenticator: requireTokens({ database: { ...database, sql }, observe }) };
  });
  const mine = await Promise.all(Array.from({ length: 20 }, () => guarded.token("admin")));
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await guarded.app.request("http://localhost/v1/session", { headers }, server("10.0.0.1"))).status;
  };
  const guesses = Array.from({ length: 3_000 }, () => ask(random()));
  const answers = await Promise.all(mine.map(({ token }) => ask(token)));
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
  // Of five hundred tokens each.
  expect(statements).toBeLessThan(12);
  await guarded.stop();
});

test("while the database is away, a token used just before goes on working; any other is 503", async () => {
  const { token } = await api.token("admin");
  const stranger = await api.token("admin");
  expect(await status(token, "/v1/jobs/not-a-uuid")).toBe(422);
  const { sql } = api.deps.database;
  Object.assign(api.deps.database, { sql: nowhere.sql });
  expect(await status(token, "/v1/jobs/not-a-uuid")).toBe(422);
  const refused = await api.send("GET", anId, stranger.token);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  Object.assign(api.deps.database, { sql });
  expect(await status(stranger.token, anId)).toBe(404);
});
