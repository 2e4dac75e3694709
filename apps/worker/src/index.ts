export { readWorkerConfig, workerSettings, type WorkerAppConfig } from "./config.ts";
export { startWorkers, type Workers } from "./start-workers.ts";
