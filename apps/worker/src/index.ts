export { readWorkerConfig, workerSettings, type WorkerAppConfig } from "./config.ts";
export { startWorkerProcesses, startWorkers, type WorkerProcesses, type Workers } from "./start-workers.ts";
