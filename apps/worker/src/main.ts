import { enableCompileCache } from "node:module";

// Before anything else is loaded: the next start takes a fraction of the time.
enableCompileCache();
const { exitOnTrouble, stopOnSignals } = await import("@atlasqueue/core/process");
const { readWorkerConfig } = await import("./config.ts");
const { startWorkers } = await import("./fleet/start-workers.ts");

const workers = exitOnTrouble(async () => startWorkers(readWorkerConfig(process.env), process.env));
stopOnSignals(async () => (await workers).stop());
process.exit(await (await workers).finished);
