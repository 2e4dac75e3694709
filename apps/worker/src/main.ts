import { exitOnTrouble, stopOnSignals } from "@atlasqueue/core";
import { readWorkerConfig } from "./config.ts";
import { startWorkers } from "./fleet/start-workers.ts";

const workers = await exitOnTrouble(async () => startWorkers(readWorkerConfig(process.env), process.env));
stopOnSignals(() => workers.stop());
void workers.finished.then((code) => process.exit(code));
