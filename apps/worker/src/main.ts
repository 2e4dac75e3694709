import { exitOnTrouble, stopOnSignals } from "@atlasqueue/core";
import { readWorkerConfig } from "./config.ts";
import { startWorkerApp } from "./start-worker-app.ts";

const app = await exitOnTrouble(async () => startWorkerApp(readWorkerConfig(process.env)));
stopOnSignals(() => app.stop());
