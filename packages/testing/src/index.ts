export { pgBouncer, type PgBouncer } from "./programs/pgbouncer.ts";
export { findProgram } from "./programs/programs.ts";
export { recordEvents, submission } from "./factories.ts";
export { createDatabase, type CreatedDatabase } from "./servers/create-database.ts";
export { eventually, inTime, type EventuallyOptions } from "./eventually.ts";
export { httpReceiver, type Answer, type HttpReceiver, type ReceivedRequest } from "./receivers/http-receiver.ts";
export { ownRedis, ownServers, type Servers } from "./servers/servers.ts";
export {
  otlpReceiver,
  type OtlpReceiver,
  type ReceivedLog,
  type ReceivedMetric,
  type ReceivedSpan,
} from "./receivers/otlp-receiver.ts";
export { postgresUrl, redisUrl, uniqueKeys } from "./servers/shared-servers.ts";
export { spawnProcess, type Exit, type SpawnedProcess, type SpawnProcessOptions } from "./spawn-process.ts";
export { simulateClock, type SimulatedClock } from "./simulated-clock.ts";
export { tcpProxy, type TcpProxy } from "./tcp-proxy.ts";
export { brokenConnection, steppingDatabase, type Step } from "./stepping-database.ts";
export { testDatabase, type TestDatabase } from "./servers/test-database.ts";
