import { localPermits } from "@atlasqueue/core/internal/http";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { trustedProxies } from "../http/input/address.ts";

const admin_secret = "correct horse battery";
const api = forFile(() => guardedApp({ admin_secret }));

const provision = (body: unknown, secret: string | undefined = admin_secret) =>
  api.send("POST", "/admin/provision", undefined, body, secret === "" ? {} : { "x-admin-secret": secret });

test("an email gets a tenant and a token that may do everything there", async () => {
  const response = await provision({ email: "Ops@Example.com" });
  expect(response.status).toBe(200);
  const body = (await response.json()) as { token: string; email: string; created: boolean };
  expect(body).toEqual({ token: expect.stringMatching(/^aq_/), email: "Ops@Example.com", created: true });
  expect((await api.send("GET", "/v1/tokens", body.token)).status).toBe(200);
  const again = (await (await provision({ email: "ops@example.com" })).json()) as typeof body;
  expect(again.created).toBe(false);
  expect(again.token).not.toBe(body.token);
  const list = (await (await api.send("GET", "/v1/tokens", again.token)).json()) as { items: unknown[] };
  expect(list.items).toHaveLength(2);
});

test.each(["", "wrong", `${admin_secret} `.trim().slice(1), `${admin_secret}x`])(
  "403 for the secret %j",
  async (secret) => {
    const response = await provision({ email: "a@b.co" }, secret);
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ detail: "X-Admin-Secret is missing or wrong" });
  },
);

test.each([{}, { email: "nobody" }, { email: 7 }, { email: "a@b.co", tenant: "default" }, []])(
  "422 for %j",
  async (body) => {
    const response = await provision(body);
    expect(response.status).toBe(422);
    const place = { loc: expect.arrayContaining(["body"]), msg: expect.any(String), type: "value_error" };
    expect(await response.json()).toEqual({ detail: expect.arrayContaining([place]) });
  },
);

test("503 while no secret is set", async () => {
  const closed = await guardedApp();
  const response = await closed.send("POST", "/admin/provision", undefined, { email: "a@b.co" });
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ detail: expect.stringContaining("ADMIN_SECRET") });
  await closed.stop();
});

test("wrong secrets are limited by address, and never refuse the right one", async () => {
  // Its clock stands still: a slow machine grants no extra permit.
  const guarded = await guardedApp({ admin_secret, networkPermits: localPermits(() => 0) });
  const call = async (secret: string, remoteAddress: string) => {
    const request = { method: "POST", headers: { "x-admin-secret": secret, "content-type": "application/json" } };
    const body = JSON.stringify({ email: "guess@b.co" });
    const server = { incoming: { socket: { remoteAddress } } };
    return guarded.app.request("http://localhost/admin/provision", { ...request, body }, server);
  };
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => call(`guess ${at}`, "10.0.0.1")));
  const heard = answers.filter(({ status }) => status === 403).length;
  expect(heard).toBe(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(100 - heard);
  expect(Number((await call("late", "10.0.0.1")).headers.get("retry-after"))).toBeGreaterThan(0);
  // The connection is only made up here, and has no body to read.
  expect([403, 429]).not.toContain((await call(admin_secret, "10.0.0.1")).status);
  expect((await call("other", "10.0.0.2")).status).toBe(403);
  expect(guarded.events.filter(({ event }) => event === "provision_refused")).toHaveLength(heard + 1);
  expect(guarded.events).toContainEqual({ event: "provision_throttled", network: "10.0.0.1" });
  await guarded.stop();
});

test("behind a trusted proxy the limit is each client's, whatever a client writes into X-Forwarded-For", async () => {
  const trusted_proxies = trustedProxies(["10.0.0.0/8"]);
  const guarded = await guardedApp({ admin_secret, trusted_proxies, networkPermits: localPermits(() => 0) });
  const guess = async (forwarded: string) => {
    const headers = { "x-admin-secret": "guess", "x-forwarded-for": forwarded };
    const server = { incoming: { socket: { remoteAddress: "10.0.0.1" } } };
    return (await guarded.app.request("http://localhost/admin/provision", { method: "POST", headers }, server)).status;
  };
  for (let n = 0; n < 10; n += 1) expect(await guess(`198.51.100.${n}, 203.0.113.7`)).toBe(403);
  expect(await guess("198.51.100.10, 203.0.113.7")).toBe(429);
  expect(await guess("203.0.113.8")).toBe(403);
  await guarded.stop();
});
