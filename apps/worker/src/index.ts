export { readWorkerConfig, workerSettings, type WorkerAppConfig } from "./config.ts";
export { startWorkerApp, type WorkerApp } from "./start-worker-app.ts";
