import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { guardedApp } from "../test/guarded-app.ts";
import { serverOf } from "../test/test-app.ts";
import { rawSocket } from "../test/raw-socket.ts";

const admin_secret = "correct-horse-battery-staple";
const guess = `aq_${"g".repeat(43)}`;

const api = forFile(() => guardedApp({ admin_secret, rate_limit: { limit: 12, period_ms: 60_000 } }));
const server = serverOf(api);

/** Every row of every table, as text. */
async function wholeDatabase(): Promise<string> {
  const { sql } = api.deps.database;
  const tables = await sql<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'atlasqueue'`;
  const rows = await Promise.all(
    tables.map(({ name }) => sql`SELECT row::text AS text FROM ${sql(`atlasqueue.${name}`)} AS row`),
  );
  return rows
    .flat()
    .map(({ text }) => String(text))
    .join("\n");
}

test("no token or secret appears in a log line, a table, a metric or an error, whatever is done with it", async () => {
  const bodies: string[] = [];
  const send = async (
    method: string,
    path: string,
    token?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => {
    const response = await api.send(method, path, token, body, headers);
    const text = await response.text();
    if (response.status >= 400) bodies.push(text);
    return { status: response.status, json: text === "" ? {} : (JSON.parse(text) as Record<string, string>) };
  };
  const email = { email: "ops@example.com" };
  const { json: first } = await send("POST", "/admin/provision", undefined, email, { "x-admin-secret": admin_secret });
  const near = admin_secret.replace("staple", "stable");
  await send("POST", "/admin/provision", undefined, email, { "x-admin-secret": near });
  await send("POST", "/admin/provision", undefined, {}, { "x-admin-secret": admin_secret });
  const token = first["token"] ?? "";
  const { json: made } = await send("POST", "/v1/tokens", token, { name: "worker", scopes: ["read"] });
  const { json: rotated } = await send("POST", `/v1/tokens/${made["id"]}/rotate`, token, {});
  await send("POST", "/v1/tokens", token, { name: "x", scopes: [made["token"]], [rotated["token"] ?? ""]: 1 });
  await send("GET", "/v1/tokens", made["token"]);
  await send("GET", "/v1/jobs/x", rotated["token"]);
  await send("GET", "/v1/tokens", guess);
  await send("GET", "/v1/tokens", `${token}x`);
  await api.post("key", { type: "a" }, { authorization: `Bearer ${token}` });
  for (let times = 0; times < 10; times += 1) await send("GET", "/v1/tokens", token);
  expect(bodies.some((text) => text.includes("rate-limited"))).toBe(true);
  // A bug, whose stack is logged.
  const { sql } = api.deps.database;
  api.clock.ms += 5_000;
  await sql`ALTER TABLE atlasqueue.tokens RENAME COLUMN hash TO digest`;
  expect((await send("GET", "/v1/tokens", token)).status).toBe(500);
  await sql`ALTER TABLE atlasqueue.tokens RENAME COLUMN digest TO hash`;

  const operator = await api.token("admin");
  const secrets = [operator.token, token, made["token"], rotated["token"], guess, admin_secret, near].map(
    (secret) => secret ?? "",
  );
  const metrics = await (await api.get("/metrics", { authorization: `Bearer ${operator.token}` })).text();
  const own_errors = bodies.join("\n");
  const places = {
    logs: api.logLines().join("\n"),
    tables: await wholeDatabase(),
    metrics,
    events: JSON.stringify(api.events),
  };
  expect(places.logs).toContain("http_error");
  expect(places.logs).toContain("token_refused");
  expect(places.tables).toContain("ops@example.com");
  for (const [place, text] of Object.entries(places))
    for (const secret of secrets) expect(text.includes(secret), `${place} has ${secret}`).toBe(false);
  // A caller that puts a token where none belongs is shown what was wrong, but not one that puts it where it belongs.
  for (const secret of [token, guess, admin_secret, near]) expect(own_errors).not.toContain(secret);
});

test("a repeated Authorization header is refused, even if both are valid", async () => {
  const { token } = await api.token("read");
  const one = `Authorization: Bearer ${token}\r\n`;
  const say = async (headers: string) => {
    const socket = await rawSocket(server.port);
    socket.write(`GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`);
    return socket.answer;
  };
  expect(await say(one)).toContain("HTTP/1.1 200");
  expect(await say(one + one)).toContain("HTTP/1.1 401");
});
