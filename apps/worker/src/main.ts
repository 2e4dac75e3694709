import { exitOnTrouble, stopOnSignals } from "@atlasqueue/core/internal";
import { readWorkerConfig } from "./config.ts";
import { startWorkers } from "./fleet/start-workers.ts";

const workers = exitOnTrouble(async () => startWorkers(readWorkerConfig(process.env), process.env));
stopOnSignals(async () => (await workers).stop());
process.exit(await (await workers).finished);
