export { connectDatabase, type Database, type DatabaseOptions, type Sql } from "./database/connect.ts";
export { DatabaseTimeoutError, isBadRow, isUnavailable, outcomeUnknown } from "./database/errors.ts";
export { isUuid } from "./database/literals.ts";
export { migrateDatabase } from "./database/migrate.ts";
export { refreshStatistics, statisticsAreStale } from "./database/server/refresh-statistics.ts";
export { serverConnections, type ServerConnections } from "./database/server/connections.ts";
export { schemaState } from "./database/schema-state.ts";
export { requirePostgres } from "./database/server/version.ts";
export type { JobRow } from "./database/schema/index.ts";
export { defaultTenant, type Deps, type QueueRef } from "./deps.ts";
export { observeAll, type AtlasEvent, type EventName, type Observe } from "./observe/events.ts";
export { addFleetGauges, addServerGauges } from "./observe/gauges.ts";
export { createLogger, logDestination, logEvents, logLevels, type Logger, type LogLevel } from "./observe/log.ts";
export { createMetrics, type Metrics } from "./observe/metrics.ts";
export { backoffDelayMs, type BackoffPolicy } from "./settle/backoff.ts";
export { cronFault } from "./schedules/cron.ts";
export { defaultRetention, firstIdAt, type Retention } from "./maintenance/retention.ts";
export { localPermits, type LocalPermits, type Permit, type RateLimit } from "./signal/token-bucket.ts";
export { hashToken, newToken, tokenForm } from "./tokens/token.ts";
export { errorText, storableText } from "@atlasqueue/contract";
export { purgeAll, replayAll, type BulkOutcome } from "./dead-letters/bulk.ts";
export { verdictAfterFailure, type Verdict } from "./settle/verdict.ts";
export { createFinishWatch, type FinishWatch } from "./jobs/wait-finished.ts";
export { createFollowUps, type FollowUps, type Settled } from "./follow-ups.ts";
export { admitAll } from "./submit/arrivals/admitter.ts";
export { advanceAll } from "./groups/advancer.ts";
export { createLeaseDesk, type LeaseDesk } from "./remote/long-poll.ts";
export { createLeaseReturns, type LeaseReturns } from "./lease/returns.ts";
export { pause } from "./pause.ts";
export { refillQueue } from "./limits/refill.ts";
export { settleRemote, type Ack, type Nack, type RemoteOutcome, type RemoteSettlementDeps } from "./remote/settle.ts";
export { openChannel, parentChannel, type Channel } from "./program/process-channel.ts";
export { exitOnTrouble, stopOnSignals, troubleLine } from "./program/process.ts";
export type { DeadFilter, DeadPlace } from "./dead-letters/pages.ts";
export { explainJob } from "./jobs/explain.ts";
export { countDrift } from "./counts/drift.ts";
export { queueDepths } from "./queues/depths.ts";
export { clockSkewMs } from "./database/server/clock.ts";
export { findJob, findJobs } from "./jobs/find.ts";
export { findSchedule, type SeenSchedule } from "./schedules/find.ts";
export { findToken, type FoundToken } from "./tokens/find.ts";
export { listAttempts } from "./jobs/attempts.ts";
export { listDead, type DeadRows } from "./dead-letters/list.ts";
export { listJobs, type JobFilter, type JobRows } from "./jobs/list.ts";
export { listSchedules } from "./schedules/list.ts";
export { listJobsAt, type JobsFilter } from "./jobs/list-at.ts";
export { oldestReady, type OldestReady } from "./queues/oldest-ready.ts";
export { oldestWaiting } from "./queues/oldest-waiting.ts";
export { listTokens, showToken } from "./tokens/list.ts";
export { queueStats, queue_stats_max, type QueueStats } from "./queues/stats.ts";
export { readyAmong, readyQueuesOf, readyTenants, top, type ReadyQueue } from "./queues/ready-queues.ts";
export { createReadiness, type ServerReadiness } from "./database/server/readiness.ts";
export { showJob } from "./jobs/show.ts";
export { showSchedule } from "./schedules/show.ts";
export { createOutlook, type SweepOutlook } from "./maintenance/outlook.ts";
export { workLeft } from "./queues/work-left.ts";
export {
  retryPolicy,
  retrySettings,
  serverConfig,
  serverSettings,
  type ServerConfig,
} from "./program/server-settings.ts";
export { allowsHost, isLoopback, type HostRule } from "./program/hosts.ts";
export { parseSettings, setting, SettingError } from "./program/settings.ts";
export { promoteAll } from "./maintenance/promoter.ts";
export { fireAll } from "./schedules/fire-due.ts";
export { InvalidScheduleError, type Schedules } from "./schedules/schedules.ts";
export { foldAll } from "./counts/folder.ts";
export { announce, hint } from "./signal/announce.ts";
export { defaultKeys, queueKeys, type SignalKeys } from "./signal/keys.ts";
export { hostSignal, type SignalHost } from "./signal/ipc/host.ts";
export { ipcSignal, type IpcSignal } from "./signal/ipc/signal.ts";
export { memorySignal } from "./signal/memory/signal.ts";
export { noSignal } from "./signal/none.ts";
export {
  allTenants,
  presence_beat_ms,
  presence_ttl_ms,
  type Presence,
  type SeenWorker,
  type VanishedWorker,
  type WorkerPresence,
} from "./signal/presence.ts";
export { redisSignal, type RedisSignalOptions } from "./signal/redis/signal.ts";
export { requireSignal } from "./signal/require-signal.ts";
export {
  SignalUnavailableError,
  wakeMark,
  type DeadLetterList,
  type ReadyJob,
  type Signal,
  type SignalState,
} from "./signal/signal.ts";
export { submit } from "./submit/submit.ts";
export { adoptStrays, countStrays } from "./lease/adopt-strays.ts";
export { claim, claimReady } from "./lease/claim.ts";
export { aboutLease, type Claimer, type Lease, type LeasedJob } from "./lease/lease.ts";
export { clearResults } from "./maintenance/clear-results.ts";
export { cancel, type CancelOutcome } from "./jobs/cancel.ts";
export { complete, type Completion, type SettleOutcome } from "./settle/complete.ts";
export { createToken, type CreateTokenOutcome, type TokenWish } from "./tokens/create.ts";
export type { MadeToken, TokenRow } from "./tokens/rows.ts";
export { deleteSchedule } from "./schedules/delete.ts";
export { enqueueAll, type EnqueueAllOutcome } from "./submit/enqueue-all.ts";
export { enqueue, type EnqueueOptions } from "./submit/enqueue.ts";
export type { EnqueueOutcome, Submission } from "./submit/outcome.ts";
export { extendLeases } from "./lease/extend.ts";
export { fail, type Failure, type FailOutcome } from "./settle/fail.ts";
export { heartbeat, type Heartbeat, type HeartbeatOutcome } from "./lease/heartbeat.ts";
export { retry, type RetryOutcome } from "./jobs/retry.ts";
export { projectDeadLetters } from "./dead-letters/project.ts";
export { forgetPastStarts } from "./limits/note-starts.ts";
export { forgetEmptyQueues } from "./counts/fold.ts";
export { forgetUndecidedQueues } from "./queues/forget-undecided.ts";
export { forgetLeaseBatches } from "./lease/forget-claims.ts";
export { noteTokenUse } from "./tokens/note-use.ts";
export { provisionTenant } from "./tokens/provision-tenant.ts";
export { pauseQueue, resumeQueue } from "./queues/pause.ts";
export { pauseSchedule, resumeSchedule } from "./schedules/pause.ts";
export { createSchedule, putSchedule, type StoreOutcome } from "./schedules/store.ts";
export { signingKey } from "./tokens/signing-key.ts";
export { setLimits, type LimitsSet } from "./limits/set.ts";
export { recallLeases } from "./lease/recall.ts";
export { firstId, prune, pruneKeys, pruneUniqueKeys } from "./maintenance/prune.ts";
export { recoverExpired } from "./lease/recover.ts";
export { reportProgress } from "./lease/report-progress.ts";
export { release } from "./lease/release.ts";
export { revokeToken } from "./tokens/revoke.ts";
export { rotateToken } from "./tokens/rotate.ts";
export { resignalOrphans } from "./maintenance/resignal.ts";
export { rebuildSignals } from "./maintenance/rebuild-signals.ts";
export {
  createQueue,
  IdempotencyMismatchError,
  InvalidJobError,
  type Queue,
  type QueueJob,
  type QueueOptions,
  type Submitted,
  UniqueConflictError,
} from "./queue.ts";
export { createQueueBound, TooManyQueuesError, type QueueBound } from "./queue-bound/queue-bound.ts";
export { createShares, NoRoomError, takeOrThrow, type Shares } from "./shares.ts";
export { createSubmitter, type Submitter } from "./submit/submitter.ts";
