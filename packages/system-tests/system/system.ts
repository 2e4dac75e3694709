import { randomUUID } from "node:crypto";
import type { Job, SubmitJobInput } from "@atlasqueue/contract";
import { connectDatabase, migrateDatabase } from "@atlasqueue/core";
import { createToken } from "@atlasqueue/core/internal";
import { Redis } from "ioredis";
import postgres from "postgres";
import { freePort } from "@atlasqueue/embedded";
import {
  commandFile,
  eventually,
  ownServers,
  spawnProcess,
  type Servers,
  type SpawnedProcess,
} from "@atlasqueue/harness";

/** Short delays, so that a test sees several attempts. */
const brisk = {
  WORKER_POLL_TIMEOUT: "1",
  WORKER_DEMO_HANDLERS: "true",
  RETRY_BASE_DELAY_SECONDS: "0.05",
  RETRY_JITTER_MAX_SECONDS: "0.05",
  WEBHOOK_ALLOW_PRIVATE: "true",
};

export type System = {
  servers: Servers;
  sql: postgres.Sql;
  redis: Redis;
  startApi(env?: Record<string, string>): Promise<Api>;
  startWorker(env?: Record<string, string>): Promise<SpawnedProcess>;
  cli(args: string[], env?: Record<string, string>): Promise<SpawnedProcess>;
  /** A new token with the scope `admin`. */
  makeToken(tenant?: string): Promise<string>;
  stop(): Promise<void>;
};

export type Api = {
  url: string;
  process: SpawnedProcess;
  submit(job: SubmitJobInput, key?: string): Promise<Response>;
  create(job: SubmitJobInput): Promise<string>;
  read(id: string): Promise<Job>;
};

/**
 * The whole system as an operator runs it: its own PostgreSQL and Redis, and each program as a process. A program started
 * in a test ends with it, any other with the system.
 */
export async function startSystem(): Promise<System> {
  const servers = await ownServers();
  await migrateDatabase(servers.postgres.url);
  const sql = postgres(servers.postgres.url, { max: 2, onnotice: () => {}, backoff: () => 0.1 });
  const redis = new Redis(servers.redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => 200 });
  redis.on("error", () => {});
  const base = { ...brisk, DATABASE_URL: servers.postgres.url, REDIS_URL: servers.redis.url };

  const processes: SpawnedProcess[] = [];
  const start = async (args: string[], env: Record<string, string>) => {
    const started = await spawnProcess(commandFile, { args, env: { ...base, ...env } });
    processes.push(started);
    return started;
  };

  return {
    servers,
    sql,
    redis,
    async startApi(env = {}) {
      const port = await freePort();
      const api = await start(["api"], { API_PORT: String(port), ...env });
      await isUp(`http://127.0.0.1:${port}/livez`, api);
      return client(`http://127.0.0.1:${port}`, api);
    },
    async startWorker(env = {}) {
      const port = Number(env["WORKER_METRICS_PORT"] ?? (await freePort()));
      const worker = await start(["worker"], { WORKER_METRICS_PORT: String(port), ...env });
      await isUp(`http://127.0.0.1:${port}/livez`, worker);
      return worker;
    },
    cli: (args, env = {}) => start(args, env),
    async makeToken(tenant = "default") {
      const database = connectDatabase({ url: servers.postgres.url, connectionsMax: 1, timeoutMs: 10_000 });
      const wish = { tenant, name: "test", scopes: ["admin"] as const };
      const made = await createToken({ database, observe: () => {} }, wish).finally(() => database.close());
      if (made.kind !== "created") throw new Error("there is no room for a token");
      return made.token;
    },
    async stop() {
      await Promise.all(processes.map((one) => one.stop()));
      redis.disconnect();
      await sql.end({ timeout: 1 });
      await servers.stop();
    },
  };
}

/** Log levels differ from test to test, so HTTP tells whether a program is up. */
async function isUp(url: string, started: SpawnedProcess): Promise<void> {
  const ok = async () => (await fetch(url)).ok;
  await eventually(ok, { timeout_ms: start_ms_max }).catch((error: unknown) => {
    throw new Error(
      `it is not up: ${String(error)}; it said:\n${[...started.lines, ...started.errorLines].join("\n")}`,
    );
  });
}

/** On a machine that has much else to do. */
const start_ms_max = 60_000;

function client(url: string, process: SpawnedProcess): Api {
  const submit = (job: SubmitJobInput, key: string = randomUUID()) =>
    fetch(`${url}/v1/jobs`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(job),
    });
  return {
    url,
    process,
    submit,
    async create(job) {
      const answer = await submit(job);
      if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
      return ((await answer.json()) as Job).id;
    },
    read: async (id) => (await (await fetch(`${url}/v1/jobs/${id}`)).json()) as Job,
  };
}

/** Run `count` calls, at most `width` at once; answers in order. */
export async function inParallel<T>(count: number, width: number, call: (at: number) => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const at = next;
      next += 1;
      answers[at] = await call(at);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return answers;
}
