import type { Writable } from "node:stream";
import { readApiConfig, startApis } from "@atlasqueue/api";
import { createLogger, memorySignal, migrateDatabase, SettingError } from "@atlasqueue/core";
import { heldLog } from "@atlasqueue/program";
import { readWorkerConfig, startWorkerProcesses, type WorkerProcesses } from "@atlasqueue/worker-app";
import { readServerSettings, type Env } from "../config.ts";
import { banner } from "./banner.ts";
import { ephemeralEnv } from "./ephemeral.ts";
import { databaseServer, redisServer } from "./servers.ts";
import { undoStack, type Undo } from "./undo.ts";

export type System = {
  api_url: string;
  /** Stops the API, drains the worker, then stops the servers it started. Twice is fine. */
  stop(): Promise<void>;
};

export type StartOptions = {
  stdout: Writable;
  /** Aborting it ends a start halfway: what was started is stopped, and the result is undefined. */
  stop: AbortSignal;
  /** Servers of its own in a temporary folder, and free ports. All of it is deleted at the end. */
  ephemeral?: boolean;
};

const notYetKnown = "postgres://127.0.0.1/atlasqueue";

/**
 * The whole system: servers, migrations and the API (if it is one process) in this process, the worker in its own. Rejects, after stopping
 * what it had started, with what a person can fix (a setting, a port in use, a database that is away) or with a bug.
 *
 * @example
 * const system = await startSystem(process.env, { stdout: process.stdout, stop: new AbortController().signal });
 */
export async function startSystem(given: Env, options: StartOptions): Promise<System | undefined> {
  const undo = undoStack();
  try {
    const system = await start(options.ephemeral ? ephemeralEnv(given, undo) : given, undo, options);
    if (!system) await undo.run();
    return system;
  } catch (error) {
    await undo.run();
    if (options.stop.aborted) return undefined;
    throw error;
  }
}

async function start(given: Env, undo: Undo, { stdout, stop }: StartOptions): Promise<System | undefined> {
  // A system goes on when its queues are empty. It serves everyone its API lets in, provisioned tenants included.
  const WORKER_TENANTS = given["WORKER_TENANTS"] || "*";
  // Demo jobs are what people try first.
  // Its own workers are all there are, so a type that they do not know is a mistake.
  const env: Env = {
    WORKER_DEMO_HANDLERS: "true",
    UNKNOWN_TYPE_SECONDS: "0",
    ...given,
    WORKER_DRAIN: undefined,
    WORKER_TENANTS,
  };
  if (env["CELLS_FILE"])
    throw new SettingError(
      "CELLS_FILE is for `atlasqueue migrate`, `api` and `worker`; `start` runs one cell. Unset it, or run those",
    );
  const settings = readServerSettings(env);
  // Read again below, with real URLs; here so that a wrong setting is reported before a server is started.
  const { log_level } = readApiConfig({ ...env, DATABASE_URL: notYetKnown });
  readWorkerConfig({ ...env, DATABASE_URL: notYetKnown });

  const output = heldLog(stdout);
  const logger = createLogger(log_level, "atlasqueue", output);
  const database = await databaseServer(settings, undo, logger);
  if (stop.aborted) return undefined;
  const redis = await redisServer(settings, undo, logger);
  // Our reader may leave (`start | head`): a queue goes on without an audience.
  stdout.on("error", () => {});
  await migrateDatabase(database.url, {
    schema: settings.database_schema,
    stop,
    tell: (line) => void stdout.write(`${line}\n`),
  });
  if (stop.aborted) return undefined;

  const urls = { DATABASE_URL: database.url, REDIS_URL: redis.kind === "none" ? undefined : redis.url };
  const api_config = readApiConfig({ ...env, ...urls });
  const worker_config = readWorkerConfig({ ...env, ...urls });
  // Without Redis, this process forwards wake-up marks between the others.
  const shared = redis.kind === "none" ? { signal: memorySignal() } : {};
  undo.add(async () => shared.signal?.close());

  // The API starts first, so that a taken port is not found after jobs were claimed, and also stops first.
  let worker: WorkerProcesses | undefined;
  undo.add(async () => void (await worker?.stop()));
  const api = await startApis(api_config, { ...env, ...urls }, { ...shared, log: output, stop });
  undo.add(() => api.stop());
  // In separate processes: a handler that throws late, exits, runs out of memory or blocks leaves the API alone.
  const parts = { ...shared, logger: createLogger(api_config.log_level, "atlasqueue-worker", output), stop };
  worker = await startWorkerProcesses(worker_config, { ...env, ...urls }, parts);
  const { metrics_url } = worker;
  const dlq_key = api_config.redis?.keys.deadLetters;
  stdout.write(
    banner({
      api_url: api.url,
      metrics_url,
      dashboard: api.dashboard,
      database,
      redis,
      dlq_key,
      tokens: api_config.auth === "required",
      root: process.getuid?.() === 0,
    }),
  );
  output.release();
  api.speak();
  worker.speak();
  return { api_url: api.url, stop: () => undo.run() };
}
