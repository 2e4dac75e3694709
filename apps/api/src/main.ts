import { exitOnTrouble, stopOnSignals } from "@atlasqueue/core/internal";
import { readApiConfig } from "./config.ts";
import { startApi } from "./start-api.ts";

const api = exitOnTrouble(async () => startApi(readApiConfig(process.env)));
stopOnSignals(async () => (await api).stop());
await api;
