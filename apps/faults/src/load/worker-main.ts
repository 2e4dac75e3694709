import { fileURLToPath } from "node:url";
import { serveUntilStopped } from "@atlasqueue/core/process";
import { readWorkerConfig, startWorkers } from "@atlasqueue/worker-app";
import { readLoadConfig } from "./config.ts";
import { queueNames } from "./kinds.ts";

// The worker program as it is, with our handlers, for all tenants and queues.
const { lease_ms } = readLoadConfig();
const env = {
  WORKER_CONCURRENCY: "20",
  WORKER_METRICS_PORT: "0",
  WORKER_POLL_TIMEOUT: "1",
  ...process.env,
  WORKER_HANDLERS: fileURLToPath(new URL("handlers.ts", import.meta.url)),
  WORKER_QUEUES: queueNames.join(","),
  WORKER_TENANTS: "*",
  WORKER_LEASE_SECONDS: String(lease_ms / 1_000),
};
await serveUntilStopped(() => startWorkers(readWorkerConfig(env), env));
