export { createApp, type AppDeps } from "./app.ts";
export { apiSettings, readApiConfig, type ApiConfig } from "./config.ts";
export { startApis, type Apis, type ApisParts } from "./fleet/start-apis.ts";
export { startApi, type ApiParts, type RunningApi } from "./start-api.ts";
export type { Caller } from "./http/context.ts";
