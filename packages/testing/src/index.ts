export { findChromium } from "./find-chromium.ts";
export { recordEvents, submission } from "./factories.ts";
export { createDatabase, type CreatedDatabase } from "./create-database.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export { httpReceiver, type Answer, type HttpReceiver, type ReceivedRequest } from "./http-receiver.ts";
export { ownServers, type Servers } from "./servers.ts";
export { postgresUrl, redisUrl, uniqueKeys } from "./shared-servers.ts";
export { spawnProcess, type Exit, type SpawnedProcess, type SpawnProcessOptions } from "./spawn-process.ts";
export { testDatabase, type TestDatabase } from "./test-database.ts";
