import { revokeToken } from "@atlasqueue/core/internal";
import { forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { cookieOf, sessionCalls, setCookie, who } from "../../test/sessions.ts";
import { requireTokens } from "../access/authenticate.ts";
import { createApp } from "../app.ts";

const api = forFile(guardedApp);
/** Each test has its own permits to sign in, and nothing is remembered from before. */
let app: ReturnType<typeof createApp>;
beforeEach(() => {
  app = createApp({ ...api.deps, authenticator: requireTokens({ ...api.deps, now: () => api.clock.ms }) });
});
const { call, signIn } = sessionCalls(() => ({ app, api }));

test("a token is exchanged for a cookie that no script can read and no other site's page sends", async () => {
  const { token, id } = await api.token("read", "submit");
  const response = await signIn(token);
  expect(setCookie(response)).toMatch(
    /^atlasqueue_session=aqs_[\w-]{49}; Max-Age=(43200|43199); Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(setCookie(response)).not.toContain(token.slice(3, 20));
  const said = await who(response);
  expect(said).toMatchObject({ auth: "required", signed_in: true, tenant: "default", scopes: ["submit", "read"] });
  expect(said.token).toEqual({ id, name: "test", hint: token.slice(0, 9) });
  const hours_left = (Date.parse(said.until ?? "") - Date.now()) / 3_600_000;
  expect(hours_left).toBeGreaterThan(11.9);
  expect(hours_left).toBeLessThan(12.1);
  const cookie = cookieOf(response);
  expect(await who(await call("GET", "/v1/session", cookie))).toEqual(said);
  expect((await call("GET", "/v1/jobs", cookie)).status).toBe(200);
});

test("signing in takes a permit of the token's tenant", async () => {
  const on = createApp({ ...api.deps, rate_limit: { limit: 3, period_ms: 3_600_000 } });
  const first = await api.token("read");
  const other = await makeToken(api.deps, ["read"], await makeTenant(api.deps));
  const answers = [];
  for (let n = 0; n < 4; n += 1) answers.push((await signIn(first.token, {}, on)).status);
  expect(answers).toEqual([200, 200, 200, 429]);
  expect((await signIn(other.token, {}, on)).status).toBe(200);
});

test("a body far longer than any token is refused before it is read", async () => {
  const answer = await app.request("http://localhost/v1/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: "x".repeat(10_000) }),
  });
  expect(answer.status).toBe(413);
});

test("what cannot sign in is told nothing about why", async () => {
  const { token, id } = await api.token("admin");
  await revokeToken(api.deps, "default", id);
  const monitoring = await api.token("metrics");
  const answers = await Promise.all(
    [token, monitoring.token, `${token.slice(0, -1)}x`, "aq_short", "", " ", "x".repeat(512)].map(async (one) => {
      const response = await signIn(one);
      expect(setCookie(response)).toBe("");
      const { detail } = (await response.json()) as { detail: string };
      return [response.status, detail];
    }),
  );
  const [first, ...others] = answers.filter(([status]) => status !== 422);
  expect(first?.[0]).toBe(401);
  for (const other of others) expect(other).toEqual(first);
  expect(answers.filter(([status]) => status === 422)).toHaveLength(1);
});

test("signing in counts only when it fails: people behind one proxy do not lock each other out", async () => {
  const { token } = await api.token("read");
  for (let person = 0; person < 70; person += 1) expect((await signIn(token)).status).toBe(200);
});

test("an address that guesses has to wait, and keeps nobody behind the same proxy from signing in", async () => {
  const guesses = await Promise.all(Array.from({ length: 90 }, () => signIn("aq_guess")));
  expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
  const refused = await signIn("aq_guess");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const { token } = await api.token("read");
  expect((await signIn(token)).status).toBe(200);
});

test("over https, or behind a proxy that speaks it, the cookie is Secure and bound to this host", async () => {
  const { token } = await api.token("read");
  for (const headers of [
    { "x-forwarded-proto": "https" },
    { origin: "https://queue.example.com", "sec-fetch-site": "same-origin" },
  ]) {
    const response = await signIn(token, headers);
    expect(setCookie(response)).toMatch(/^__Host-atlasqueue_session=.*; Secure; SameSite=Strict$/);
    expect((await call("GET", "/v1/jobs", cookieOf(response))).status).toBe(200);
  }
  // One with the plain name may have been planted by another host of the domain.
  const plain = cookieOf(await signIn(token));
  expect((await call("GET", "/v1/jobs", { ...plain, "x-forwarded-proto": "https" })).status).toBe(401);
});
