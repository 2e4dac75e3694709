import { createServer } from "node:net";
import { once } from "node:events";
import { spawnProcess, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { mainFile, serversOf } from "../../test/run-start.ts";

const database = forFile(testDatabase);

const start = (env: Record<string, string | undefined>, program = "api") =>
  spawnProcess(mainFile, { args: [program], env: { ...serversOf(database.url), API_PORT: "0", ...env } });

test("it serves, and SIGTERM ends it with 0", async () => {
  const api = await start({});
  await api.waitForLine("api_started");
  const { url } = api.logs[0] as { url: string };
  const response = await fetch(`${url}/v1/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "one", "x-request-id": "from-main" },
    body: '{"type":"a"}',
  });
  expect(response.status).toBe(201);
  api.kill("SIGTERM");
  expect(await api.waitForExit()).toEqual({ code: 0, signal: null });
  // The sweep may have found another test's job; the signal follows the commit, concurrently with the answer.
  const events = new Set(api.logs.map(({ event }) => event).filter((event) => event !== "jobs_resignalled"));
  expect([...events].toSorted()).toEqual(["api_started", "http_request", "job_created", "job_enqueued"]);
  expect(api.logs.find(({ event }) => event === "http_request")).toMatchObject({
    level: "info",
    caller_request_id: "from-main",
    client_address: "127.0.0.1",
    path_template: "/v1/jobs",
    status_code: 201,
  });
  expect(api.errorLines).toEqual([]);
});

test.each([
  [{ DATABASE_URL: "postgres://127.0.0.1:1/x" }, /^the database in DATABASE_URL cannot be reached: .*ECONNREFUSED/],
  [{ API_HOST: "203.0.113.1", ALLOW_UNAUTHENTICATED: "true" }, /^API_HOST must be an address of this machine/],
])("what a person can fix is one line and exit code 1: %j", async (env, line) => {
  const api = await start(env);
  expect(await api.waitForExit()).toEqual({ code: 1, signal: null });
  expect(api.errorLines).toEqual([expect.stringMatching(line)]);
});

test("a port in use is one line and exit code 1", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const api = await start({ API_PORT: String(port) });
  expect(await api.waitForExit()).toEqual({ code: 1, signal: null });
  expect(api.errorLines).toEqual([expect.stringContaining(`127.0.0.1:${port} is in use`)]);
  taken.close();
});

test("a database that lacks a migration is one line naming both versions", { tags: ["nightly"] }, async () => {
  const older = await testDatabase();
  const { sql } = older.database;
  await sql`
    UPDATE atlasqueue.migrations SET created_at = created_at - 1`;
  for (const program of ["api", "worker"]) {
    const { waitForExit, errorLines } = await start({ DATABASE_URL: older.url, WORKER_METRICS_PORT: "0" }, program);
    expect(await waitForExit()).toEqual({ code: 1, signal: null });
    expect(errorLines).toEqual([
      expect.stringMatching(
        / is at migration \d{4}_\w+, this version needs \d{4}_\w+: run `atlasqueue migrate` first$/,
      ),
    ]);
  }
  await older.drop();
});

test("a database that is a version ahead is served", { tags: ["nightly"] }, async () => {
  const newer = await testDatabase();
  const { sql } = newer.database;
  await sql`
    INSERT INTO atlasqueue.migrations (hash, created_at)
    SELECT 'of a later version', max(created_at) + 1 FROM atlasqueue.migrations`;
  const api = await start({ DATABASE_URL: newer.url });
  await api.waitForLine("api_started");
  api.kill("SIGTERM");
  expect(await api.waitForExit()).toEqual({ code: 0, signal: null });
  await newer.drop();
});
