import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@atlasqueue/contract";
import { createToken } from "@atlasqueue/core/internal";
import { eventually, forFile, tcpProxy, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readApiConfig } from "../config.ts";
import { startApi } from "../start-api.ts";

const home = forFile(testDatabase);
const other = forFile(testDatabase);
const ndjson = "application/x-ndjson";
const folder = mkdtempSync(join(tmpdir(), "cells-"));

async function start(b_url = other.url, more = {}) {
  const CELLS_FILE = join(folder, `${Math.random()}.json`);
  const cells = [
    { name: "home", DATABASE_URL: home.url },
    { name: "b", DATABASE_URL: b_url },
  ];
  writeFileSync(CELLS_FILE, JSON.stringify(cells));
  const env = { CELLS_FILE, AUTH: "required", API_PORT: "0", LOG_LEVEL: "silent", ...more };
  const api = await startApi(readApiConfig(env));
  onTestFinished(api.stop);
  return (method: string, path: string, token?: string, body?: unknown) =>
    fetch(`${api.url}${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": body instanceof ReadableStream ? ndjson : "application/json" }),
        "idempotency-key": `${Math.random()}`,
      },
      ...(body instanceof ReadableStream && { body, duplex: "half" }),
      ...(body !== undefined && !(body instanceof ReadableStream) && { body: JSON.stringify(body) }),
    });
}

/** A tenant of a cell, and its token. */
async function tenantIn(cell: string | null, ...scopes: Scope[]) {
  const tenant = `t-${Math.random().toString(36).slice(2)}`;
  await home.database.sql`INSERT INTO atlasqueue.tenants (tenant, cell) VALUES (${tenant}, ${cell})`;
  return { tenant, token: await tokenOf(tenant, scopes.length === 0 ? ["admin"] : scopes) };
}
async function tokenOf(tenant: string, scopes: readonly Scope[]) {
  const made = await createToken({ database: home.database, observe: () => {} }, { tenant, name: "test", scopes });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.token;
}
const countIn = async ({ database }: TestDatabase, table: string, tenant: string) => {
  const rows = await database.sql.unsafe<{ n: number }[]>(
    `SELECT count(*)::int AS n FROM atlasqueue.${table} WHERE tenant = $1`,
    [tenant],
  );
  return rows[0]?.n;
};
const job = { type: "mail" };

test("with cells, a statement has 2.5 s at most, as a move waits for it", async () => {
  const message = "DATABASE_TIMEOUT_SECONDS must be at most 2.5 with CELLS_FILE; got 3";
  await expect(start(other.url, { DATABASE_TIMEOUT_SECONDS: "3" })).rejects.toThrow(message);
});

test("each tenant's jobs and acts are in its cell, and its tokens and sessions at home", async () => {
  const send = await start();
  const [ours, theirs] = [await tenantIn(null), await tenantIn("b")];
  for (const { token } of [ours, theirs]) expect((await send("POST", "/v1/jobs", token, job)).status).toBe(201);
  for (const [{ tenant }, at, not] of [
    [ours, home, other],
    [theirs, other, home],
  ] as const)
    expect([await countIn(at, "jobs", tenant), await countIn(not, "jobs", tenant)]).toEqual([1, 0]);

  const leased = await send("POST", "/v1/queues/default/lease", theirs.token, { worker_id: "w" });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
  const [held] = jobs;
  const ack = { lease_token: held?.lease_token };
  expect((await send("POST", `/v1/jobs/${held?.job.id}/ack`, theirs.token, ack)).status).toBe(200);
  expect((await send("GET", `/v1/jobs/${held?.job.id}`, ours.token)).status).toBe(404);

  const made = await send("POST", "/v1/tokens", theirs.token, { name: "second", scopes: ["read"] });
  expect(made.status).toBe(201);
  const opened = await send("POST", "/v1/session", undefined, { token: theirs.token });
  expect(opened.status).toBe(200);
  expect((await send("POST", "/v1/queues/default/pause", theirs.token)).status).toBe(200);
  const acts = await send("GET", "/v1/audit", theirs.token);
  const { items } = (await acts.json()) as { items: { action: string }[] };
  expect(items.map(({ action }) => action)).toEqual(["queue.pause", "session.open", "token.create"]);
  expect([await countIn(home, "tokens", theirs.tenant), await countIn(other, "tokens", theirs.tenant)]).toEqual([2, 0]);

  const metrics = await send("GET", "/metrics", await tokenOf("default", ["metrics"]));
  const page = await metrics.text();
  expect(page).toContain('atlasqueue_jobs{cell="b",status="succeeded"} 1');
  expect(page).toContain('atlasqueue_jobs{cell="home",status="queued"} 1');
  expect(page).toContain('atlasqueue_database_connections_limit{cell="b"} 10');
});

test("while a tenant is being moved it gets 503 with Retry-After, and others go on", async () => {
  const send = await start();
  const [ours, theirs] = [await tenantIn(null), await tenantIn("b")];
  const mark = (to: string | null) =>
    home.database.sql`UPDATE atlasqueue.tenants SET moving_to = ${to} WHERE tenant = ${theirs.tenant}`;
  expect((await send("GET", "/v1/jobs", theirs.token)).status).toBe(200);
  await mark("home");
  await eventually(async () => {
    const refused = await send("POST", "/v1/jobs", theirs.token, job);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({
      detail: `Tenant ${theirs.tenant} is being moved to cell home; try again in a few seconds`,
    });
  });
  expect((await send("POST", "/v1/jobs", ours.token, job)).status).toBe(201);
  await mark(null);
  await eventually(async () => expect((await send("GET", "/v1/jobs", theirs.token)).status).toBe(200));
});

test("a stream that was opened before its tenant moved ends, and its later lines are stored in neither cell", async () => {
  const send = await start();
  const { tenant, token } = await tenantIn("b");
  const lines = new TransformStream<string, string>();
  const writer = lines.writable.getWriter();
  const line = (n: number) => writer.write(`${JSON.stringify({ ...job, idempotency_key: `${tenant} ${n}` })}\n`);
  const answered = send("POST", "/v1/jobs/stream", token, lines.readable.pipeThrough(new TextEncoderStream()));
  await line(1);
  await eventually(async () => expect(await countIn(other, "jobs", tenant)).toBe(1));
  await home.database.sql`UPDATE atlasqueue.tenants SET cell = NULL WHERE tenant = ${tenant}`;
  await eventually(async () => expect((await send("GET", "/v1/jobs", token)).status).toBe(200));
  await eventually(async () =>
    expect(await (await send("GET", "/v1/jobs", token)).json()).toMatchObject({ items: [] }),
  );
  await line(2);
  const text = await (await answered).text();
  expect(text).toContain("has moved to another cell");
  expect([await countIn(home, "jobs", tenant), await countIn(other, "jobs", tenant)]).toEqual([0, 1]);
  await writer.close().catch(() => {});
});

test("an event stream ends once its tenant has moved", async () => {
  const send = await start();
  const { tenant, token } = await tenantIn("b");
  const events = await send("GET", "/v1/events", token);
  await home.database.sql`UPDATE atlasqueue.tenants SET cell = NULL WHERE tenant = ${tenant}`;
  expect(await events.text()).toContain("event: counts");
});

test("a cell that is down when the API starts is 503 for its tenants alone, and is served once it is up", async () => {
  const proxy = await tcpProxy(other.url);
  onTestFinished(() => proxy.close());
  proxy.refuse();
  const send = await start(proxy.url);
  const [ours, theirs] = [await tenantIn(null), await tenantIn("b")];
  const refused = await send("POST", "/v1/jobs", theirs.token, job);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ detail: "Cell b is down; other cells may be up" });
  expect((await send("POST", "/v1/jobs", ours.token, job)).status).toBe(201);
  expect((await send("GET", "/readyz")).status).toBe(200);
  proxy.heal();
  await eventually(async () => expect((await send("POST", "/v1/jobs", theirs.token, job)).status).toBe(201));
  proxy.refuse();
  await eventually(async () => expect((await send("GET", "/v1/jobs", theirs.token)).status).toBe(503));
  expect((await send("GET", "/v1/jobs", ours.token)).status).toBe(200);
  proxy.heal();
});
