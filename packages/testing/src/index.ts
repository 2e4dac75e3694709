export { findProgram, pgBouncer, startPrometheus, type PgBouncer, type Prometheus } from "./programs/index.ts";
export { recordEvents, submission, submit } from "./factories.ts";
export { createDatabase, type CreatedDatabase } from "./servers/create-database.ts";
export { eventually, inTime, type EventuallyOptions } from "./eventually.ts";
export { forFile } from "./for-file.ts";
export { httpReceiver, type Answer, type HttpReceiver, type ReceivedRequest } from "./receivers/http-receiver.ts";
export { ownRedis, ownServers, type Servers } from "./servers/servers.ts";
export {
  otlpReceiver,
  type OtlpReceiver,
  type ReceivedLog,
  type ReceivedMetric,
  type ReceivedSpan,
} from "./receivers/otlp-receiver.ts";
export { startStandby, type Standby } from "./servers/standby.ts";
export { certificateAuthority, type Authority, type Certificate } from "./redis/certificates.ts";
export { ownSignal } from "./redis/own-signal.ts";
export { otherOwner } from "./redis/other-owner.ts";
export { minimalUser } from "./redis/minimal-user.ts";
export { redisCluster, type ClusterServer, type RedisCluster } from "./redis/redis-cluster.ts";
export { sentinelSet, type SentinelSet } from "./redis/sentinel-set.ts";
export { tlsRedis, type TlsRedis } from "./redis/tls-redis.ts";
export { postgresUrl, redisUrl, uniqueKeys } from "./servers/shared-servers.ts";
export { commandFile } from "./servers/command-file.ts";
export { addDead, changerOf, digestOf } from "./database/rows.ts";
export { testCore, type TestCore } from "./database/test-core.ts";
export { spawnProcess, type Exit, type SpawnedProcess, type SpawnProcessOptions } from "./spawn-process.ts";
export { simulateClock, type SimulatedClock } from "./simulated-clock.ts";
export { tcpProxy, type TcpProxy } from "./tcp-proxy.ts";
export { brokenConnection, steppingDatabase, type Step } from "./database/stepping-database.ts";
export { addJobChecks } from "./servers/add-job-checks.ts";
export { testDatabase, type TestDatabase } from "./servers/test-database.ts";
