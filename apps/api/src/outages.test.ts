import { readFile } from "node:fs/promises";
import { migrateDatabase, redisSignal } from "@atlasqueue/core";
import {
  commandFile,
  eventually,
  forFile,
  inTime,
  ownServers,
  spawnProcess,
  uniqueKeys,
  type SpawnedProcess,
} from "@atlasqueue/harness";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { submission } from "../test/test-app.ts";

const { jobsKey, dlqKey } = uniqueKeys();

const servers = forFile(ownServers);
let api: SpawnedProcess;
let url: string;
beforeAll(async () => {
  await migrateDatabase(servers.postgres.url);
  api = await spawnProcess(commandFile, {
    args: ["api"],
    env: {
      DATABASE_URL: servers.postgres.url,
      REDIS_URL: servers.redis.url,
      JOB_QUEUE_KEY: jobsKey,
      DLQ_KEY: dlqKey,
      API_PORT: "0",
    },
  });
  await api.waitForLine("api_started");
  url = String(api.logs.find(({ event }) => event === "api_started")?.["url"]);
});
afterAll(() => api.stop());
afterEach(async () => {
  await eventually(async () => expect(await ready()).toMatchObject({ status: "ok" }), { message: "all is well again" });
});

let keys = 0;
/** One submission: its status, and how long it took. */
async function submit(key = `key-${(keys += 1)}`) {
  const start = performance.now();
  const response = await fetch(`${url}/v1/jobs`, submission(key, { type: "a" }));
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body, ms: performance.now() - start };
}

const ready = async () => (await (await fetch(`${url}/readyz`)).json()) as { status: string; checks: unknown };

/** Freezes PostgreSQL, including the backends, as each is a separate process. */
async function signalPostgres(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
  const pids = await childrenOf(servers.postgres.pid);
  for (const pid of [servers.postgres.pid, ...pids]) process.kill(pid, signal);
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

/** Thirty submissions at once; how long the slowest took. */
async function submitThirty(): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 30 }, () => submit()));
  for (const { status, headers, body } of answers) {
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("1");
    expect(body).toMatchObject({ type: "/problems/unavailable" });
    expect(JSON.stringify(body)).not.toMatch(/INSERT|ECONN|postgres|\.ts/i);
  }
  return Math.max(...answers.map(({ ms }) => ms));
}
const expectUnavailable = () => inTime(2_000, submitThirty);

async function expectRecovery(): Promise<void> {
  await eventually(async () => expect((await submit("recovery")).status).toBeLessThan(300), { timeout_ms: 10_000 });
}

test("Postgres stopped: 503 within 2 s, readiness says so, and all is well within 10 s of its return", async () => {
  expect((await submit("before")).status).toBe(201);
  await servers.postgres.stop();
  await expectUnavailable();
  expect(await ready()).toMatchObject({ status: "unavailable", checks: { postgres: "down" } });
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await servers.postgres.restart();
  await expectRecovery();
  expect((await submit("before")).status).toBe(200);
});

test("Postgres frozen: 503 within 2 s, and all is well within 10 s of its return", { tags: ["slow"] }, async () => {
  await submit();
  await signalPostgres("SIGSTOP");
  try {
    await expectUnavailable();
    await expectUnavailable();
    await inTime(2_000, async () => {
      const start = performance.now();
      const batch = await fetch(`${url}/v1/jobs/batch`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jobs: [{ type: "a", idempotency_key: "frozen" }] }),
      });
      expect(batch.status).toBe(503);
      return performance.now() - start;
    });
    expect(await ready()).toMatchObject({ status: "unavailable" });
  } finally {
    await signalPostgres("SIGCONT");
  }
  await expectRecovery();
  // Sixty refusals and more, and one line when it began; the line when it is over has the count.
  await eventually(
    () => {
      const over = api.logs.filter(({ event, outage }) => event === "database_unavailable" && outage === "is_over");
      expect(over.at(-1)).toMatchObject({ counts: { "POST /v1/jobs": expect.any(Number) } });
    },
    { timeout_ms: 20_000 },
  );
  expect(api.logs.filter(({ event }) => event === "database_unavailable").length).toBeLessThan(10);
});

/** Ten submissions at once, all accepted; how long the slowest took. */
async function usualMs(): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => submit()));
  for (const { status } of answers) expect(status).toBe(201);
  return Math.max(...answers.map(({ ms }) => ms));
}

/** 300 ms more than usual is promised. */
const expectHardlySlower = (usual_ms: number) => inTime(usual_ms + 300, usualMs);

test("Redis stopped: 201 within 300 ms more, and ready is degraded", async () => {
  const usual_ms = await usualMs();
  await servers.redis.stop();
  await expectHardlySlower(usual_ms);
  expect(await ready()).toMatchObject({ status: "degraded", checks: { postgres: "up", redis: "down" } });
  await servers.redis.restart();
});

test("Redis frozen: 201 within 300 ms more, ready is degraded, and signals flow again after it", async () => {
  const usual_ms = await usualMs();
  servers.redis.pause();
  try {
    await expectHardlySlower(usual_ms);
    await expectHardlySlower(usual_ms);
    expect(await ready()).toMatchObject({ status: "degraded", checks: { redis: "down" } });
  } finally {
    servers.redis.resume();
  }
  await eventually(async () => expect(await ready()).toMatchObject({ status: "ok" }));
  const { body } = await submit();
  const signal = redisSignal({ url: servers.redis.url, keys: { jobs: jobsKey, deadLetters: dlqKey } });
  await eventually(async () =>
    expect((await signal.take([{ tenant: "default", queue: "default" }], 1_000)).ids).toContain(body["id"]),
  );
  await signal.close();
});
