import { enableCompileCache } from "node:module";

// Before anything else is loaded: the next start takes a fraction of the time.
enableCompileCache();
const { exitOnTrouble, stopOnSignals } = await import("@atlasqueue/core/process");
const { readApiConfig } = await import("./config.ts");
const { startApi } = await import("./start-api.ts");

const api = exitOnTrouble(async () => startApi(readApiConfig(process.env)));
stopOnSignals(async () => (await api).stop());
await api;
