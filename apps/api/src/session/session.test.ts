import { hash, randomBytes } from "node:crypto";
import { revokeToken, rotateToken } from "@atlasqueue/core/internal";
import { steppingDatabase, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { own, sessionCalls, setCookie, who } from "../../test/sessions.ts";
import { testApp } from "../../test/test-app.ts";
import { createApp } from "../app.ts";
import { requireTokens } from "../access/authenticate.ts";

const api = forFile(guardedApp);
/** Each test has its own permits to sign in, and nothing is remembered from before. */
let app: ReturnType<typeof createApp>;
const anotherProcess = () =>
  createApp({ ...api.deps, authenticator: requireTokens({ ...api.deps, now: () => api.clock.ms }) });
beforeEach(() => void (app = anotherProcess()));

const { call, signIn, signedIn } = sessionCalls(() => ({ app, api }));
/** What looks like one, as anybody can make it up. */
const madeUpSession = () => {
  const secret = `aqs_${randomBytes(32).toString("base64url")}`;
  return secret + hash("sha256", secret, "base64url").slice(0, 6);
};
test("another process of the API knows the session", async () => {
  const { cookie } = await signedIn("read");
  expect((await call("GET", "/v1/jobs", cookie, anotherProcess())).status).toBe(200);
});

test("a session may do what its token may, and no more", async () => {
  const { cookie } = await signedIn("read");
  expect((await call("POST", "/v1/queues/mail/pause", { ...cookie, ...own })).status).toBe(403);
  const admin = await signedIn("admin");
  expect((await call("POST", "/v1/queues/mail/pause", { ...admin.cookie, ...own })).status).toBe(200);
});

test("a page that was signed in with another token than the cookie is of now does nothing with it", async () => {
  const before = await signedIn("admin");
  const { id, cookie } = await signedIn("admin");
  const as = (token: string) => ({ ...cookie, ...own, "x-atlasqueue-token-id": token });
  const refused = await call("POST", "/v1/queues/mail/pause", as(before.id));
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain("signed in with another token");
  expect((await call("GET", "/v1/jobs", as(before.id))).status).toBe(401);
  expect((await call("POST", "/v1/queues/mail/pause", as(id))).status).toBe(200);
});

test("a cookie changes nothing without the dashboard's own header, whoever's page sends it", async () => {
  const { cookie } = await signedIn("admin");
  const plain = await call("POST", "/v1/queues/mail/pause", cookie);
  expect(plain.status).toBe(403);
  expect(await plain.text()).toContain("X-AtlasQueue-Dashboard: 1");
  expect((await call("DELETE", "/v1/session", cookie)).status).toBe(403);
  // OpenQueue's surface is no way around it.
  const cancel = "/jobs/00000000-0000-0000-0000-000000000000/cancel";
  expect((await call("POST", cancel, cookie)).status).toBe(403);
  expect((await call("POST", cancel, { ...cookie, ...own })).status).toBe(404);
  for (const foreign of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
    expect((await call("POST", "/v1/queues/mail/pause", { ...cookie, ...own, ...foreign })).status).toBe(403);
    expect((await call("DELETE", "/v1/session", { ...cookie, ...own, ...foreign })).status).toBe(403);
    expect((await signIn("aq_x", foreign)).status).toBe(403);
  }
  // No page of another origin is allowed to ask for that header.
  const preflight = await call("OPTIONS", "/v1/queues/mail/pause", {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "x-atlasqueue-dashboard",
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  expect((await call("GET", "/v1/jobs", cookie)).status).toBe(200);
});

test("signing out ends the session on the server: the cookie that was is worth nothing", async () => {
  const { cookie } = await signedIn("read");
  const elsewhere = anotherProcess();
  const response = await call("DELETE", "/v1/session", { ...cookie, ...own });
  expect(response.status).toBe(200);
  expect(await who(response)).toMatchObject({ signed_in: false, tenant: null, scopes: [], token: null });
  expect(setCookie(response)).toMatch(/^atlasqueue_session=; Max-Age=0;/);
  for (const on of [app, elsewhere]) {
    expect((await call("GET", "/v1/jobs", cookie, on)).status).toBe(401);
    expect(await who(await call("GET", "/v1/session", cookie, on))).toMatchObject({ signed_in: false });
  }
  expect((await call("DELETE", "/v1/session")).status).toBe(200);
});

test("a made-up session is looked up once, and ends nothing", async () => {
  const asked: string[] = [];
  const database = steppingDatabase(api.deps.database, (step, _number, text) => {
    if (step === "statement") asked.push(text);
  });
  const deps = { ...api.deps, database };
  const on = createApp({ ...deps, authenticator: requireTokens(deps) });
  const cookie = { cookie: `atlasqueue_session=${madeUpSession()}` };
  for (let n = 0; n < 20; n += 1)
    expect((await call("DELETE", "/v1/session", { ...cookie, ...own }, on)).status).toBe(200);
  expect(asked).toHaveLength(1);
});

test("signing out on a page that takes itself for somebody else's ends nobody's session", async () => {
  const before = await signedIn("read");
  const { id, cookie } = await signedIn("read");
  const as = (token: string) => ({ ...cookie, ...own, "x-atlasqueue-token-id": token });
  const refused = await call("DELETE", "/v1/session", as(before.id));
  expect([refused.status, setCookie(refused)]).toEqual([401, ""]);
  expect((await call("GET", "/v1/jobs", cookie)).status).toBe(200);
  expect((await call("DELETE", "/v1/session", as(id))).status).toBe(200);
  expect((await call("GET", "/v1/jobs", cookie)).status).toBe(401);
});

test.each([
  ["is revoked", (id: string) => revokeToken(api.deps, "default", id)],
  [
    "is rotated, even with an overlap",
    (id: string) => rotateToken(api.deps, { tenant: "default", id, overlap_seconds: 60 }),
  ],
  ["expires", (id: string) => api.deps.database.sql`UPDATE atlasqueue.tokens SET expires_at = now() WHERE id = ${id}`],
])("the session ends when its token %s", async (_what, ending) => {
  const { cookie, token, id } = await signedIn("read");
  await ending(id);
  api.clock.ms += 5_000;
  const refused = await call("GET", "/v1/jobs", cookie);
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain("sign in again");
  expect((await signIn(token)).status).toBe(401);
});

test("the session ends after its time, and is never longer than its token", async () => {
  const { cookie, id } = await signedIn("read");
  const { sql } = api.deps.database;
  await sql`UPDATE atlasqueue.sessions SET expires_at = now() WHERE token_id = ${id}`;
  api.clock.ms += 5_000;
  expect((await call("GET", "/v1/jobs", cookie)).status).toBe(401);
  const short = await api.token("read");
  await sql`UPDATE atlasqueue.tokens SET expires_at = now() + interval '100 seconds' WHERE id = ${short.id}`;
  expect(Number(/Max-Age=(\d+)/.exec(setCookie(await signIn(short.token)))?.[1])).toBeLessThanOrEqual(100);
});

test("a session's text is no token, and a token no session", async () => {
  const { cookie, token } = await signedIn("read");
  const text = cookie.cookie.split("=")[1] ?? "";
  expect((await call("GET", "/v1/jobs", { authorization: `Bearer ${text}` })).status).toBe(401);
  expect((await call("GET", "/v1/jobs", { cookie: `atlasqueue_session=${token}` })).status).toBe(401);
  // What a program shows comes first, and needs no header of the dashboard's.
  const admin = await api.token("admin");
  const both = { ...cookie, authorization: `Bearer ${admin.token}` };
  expect((await call("POST", "/v1/queues/mail/resume", both)).status).toBe(200);
});

test("a visitor without anything is told that a token is needed; a token is told whose it is", async () => {
  expect(await who(await call("GET", "/v1/session"))).toMatchObject({
    auth: "required",
    signed_in: false,
    until: null,
  });
  const { token, id } = await api.token("work");
  const said = await who(await call("GET", "/v1/session", { authorization: `Bearer ${token}` }));
  expect(said).toMatchObject({ signed_in: true, scopes: ["work"], token: { id }, until: null });
  expect((await call("GET", "/v1/session", { authorization: "Bearer aq_no" })).status).toBe(401);
});

test("the database has no text of a session, only its hash, and at most a hundred of a token", async () => {
  const { id, token, cookie } = await signedIn("read");
  const { sql } = api.deps.database;
  await sql`
    INSERT INTO atlasqueue.sessions (hash, tenant, token_id, created_at, expires_at)
    SELECT decode(md5(n::text), 'hex'), 'default', ${id}, now() - interval '1 hour', now() + interval '1 hour'
    FROM generate_series(1, 150) AS n`;
  await signIn(token);
  const rows = await sql`SELECT encode(hash, 'escape') AS hash FROM atlasqueue.sessions WHERE token_id = ${id}`;
  expect(rows).toHaveLength(100);
  expect(JSON.stringify(rows)).not.toContain(cookie.cookie.slice(-20));
  expect((await call("GET", "/v1/jobs", cookie, anotherProcess())).status).toBe(200);
});

test("with AUTH=disabled everyone is signed in, there is no cookie, and it says so", async () => {
  const open = await testApp();
  onTestFinished(open.stop);
  const token = { authorization: "Bearer nonsense" };
  for (const response of [await call("GET", "/v1/session", token, open.app), await signIn("anything", {}, open.app)]) {
    expect(setCookie(response)).toBe("");
    expect(await who(response)).toMatchObject({
      auth: "disabled",
      signed_in: true,
      tenant: "default",
      scopes: ["submit", "read", "work", "metrics", "admin"],
      token: null,
      until: null,
    });
  }
});
