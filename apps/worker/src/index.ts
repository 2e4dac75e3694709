export { readWorkerConfig, workerSettings, type WorkerAppConfig } from "./config.ts";
export { startWorkerProcesses, startWorkers, type WorkerProcesses, type Workers } from "./fleet/start-workers.ts";
