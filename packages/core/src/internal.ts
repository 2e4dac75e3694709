// What only our own apps and packages need. It changes without notice.
export { listActs, showAct } from "./audit/list.ts";
export { newId } from "./ids.ts";
export { beginOnce, type BegunOnce, type KeyedAct } from "./audit/once.ts";
export { beginActs, endActs, recordActs, type Act, type BegunAct, type EndedAct } from "./audit/record.ts";
export {
  afterSome,
  CallerGoneError,
  cameAfterAPart,
  hadNoRoom,
  isLocked,
  isReadOnly,
  lockedError,
  isBadRow,
  isOutage,
  isShutOut,
  outcomeUnknown,
} from "./database/errors.ts";
export { isUuid } from "./database/literals.ts";
export { ahead, onBehalfOf } from "./database/pool/on-behalf-of.ts";
export type { Sender } from "./database/connect.ts";
export { requireSchema } from "./database/schema-state.ts";
export type { ActRow, JobRow } from "./database/schema/index.ts";
export { createReadiness } from "./database/server/readiness.ts";
export { asOption, requirePostgres } from "./database/server/require-postgres.ts";
export { purgeAll, replayAll } from "./dead-letters/bulk.ts";
export { listDeadGroups, type GroupPlace } from "./dead-letters/groups.ts";
export { listDead } from "./dead-letters/list.ts";
export type { DeadFilter, DeadPlace } from "./dead-letters/pages.ts";
export { createOperation, createReplay, previewOperation, previewReplay } from "./operations/create.ts";
export { findOperation, listOperations } from "./operations/find.ts";
export { showOperation, showReplay } from "./operations/rows.ts";
export { steerOperation, type Steering } from "./operations/steer.ts";
export { defaultTenant, type Deps, type QueueRef } from "./deps.ts";
export { createFollowUps, type FollowUps, type Settled } from "./follow-ups.ts";
export { actOnFlow } from "./flows/act-on-flow.ts";
export { parentsOf, parentsPage } from "./flows/parents.ts";
export { listFlows } from "./flows/list-flows.ts";
export { jobChecks } from "./counts/job-checks.ts";
export { findFlow, viewFlow } from "./flows/show-flow.ts";
export { answerOf, flowOf, isFlow, type Flow, type FlowJob } from "./flows/flow.ts";
export { childrenFaults, flowFaults, unknownParent } from "./flows/flow-faults.ts";
export type { FlowOutcome } from "./flows/submit-flow.ts";
export { tiesOf, underOneKey } from "./flows/under-one-key.ts";
export { listAttempts } from "./jobs/attempts.ts";
export { heldGroups } from "./groups/held.ts";
export { startsOf } from "./limits/starts.ts";
export { readThroughput } from "./rollups/throughput.ts";
export { bulkJobs } from "./jobs/bulk.ts";
export { deleteFinished } from "./jobs/delete.ts";
export { editAndRetry } from "./jobs/edit-and-retry.ts";
export { cancel } from "./jobs/cancel.ts";
export { explainJob } from "./jobs/explain.ts";
export { findJob, findJobText } from "./jobs/find.ts";
export { listJobsAt } from "./jobs/list-at.ts";
export { findJobByKey } from "./jobs/find-by-key.ts";
export { searchJobs } from "./jobs/search.ts";
export { listJobs } from "./jobs/list.ts";
export type { PageRow } from "./jobs/page-row.ts";
export { retry } from "./jobs/retry.ts";
export { showJob } from "./jobs/show.ts";
export { showKnown } from "./jobs/show-known.ts";
export { createFinishedWaits, type FinishedWaits } from "./jobs/wait-finished.ts";
export { claim, claimReady } from "./lease/claim.ts";
export { createClaimSize } from "./lease/claim-size.ts";
export { endLeases } from "./lease/end-leases.ts";
export { extendLeases } from "./lease/extend.ts";
export { forgetClaims } from "./lease/forget-claims.ts";
export { heartbeat } from "./lease/heartbeat.ts";
export { aboutLease, leaseEvent, type Claimer, type Lease, type LeasedJob } from "./lease/lease.ts";
export { recoverExpired } from "./lease/recover.ts";
export { isLate, renewLate } from "./lease/renew-late.ts";
export { reportProgress } from "./lease/report-progress.ts";
export { createLeaseReturns, type LeaseReturns } from "./lease/returns.ts";
export { createLiveEvents, type LiveEvents } from "./live/live-events.ts";
export type { LiveEventText } from "./live/listener.ts";
export { createOverview, type OverviewReader } from "./overview/overview.ts";
export { readSeries } from "./rollups/series.ts";
export { setLimits } from "./limits/set.ts";
export { promoteAll } from "./maintenance/promote.ts";
export { default_audit_hours, defaultRetention } from "./maintenance/retention.ts";
export { addFleetGauges, addServerGauges } from "./observe/gauges.ts";
export { logDestination } from "./observe/log.ts";
export { mergeMetrics } from "./observe/merge-metrics.ts";
export { pause } from "./pause.ts";
export { createQueueBound, TooManyQueuesError, type QueueBound } from "./queue-bound/queue-bound.ts";
export { createStorageQuota, StorageFullError, type StorageQuota } from "./quota/storage-quota.ts";
export { oldestWaiting } from "./queues/oldest-waiting.ts";
export { pauseQueue, resumeQueue } from "./queues/pause.ts";
export { pauseAll } from "./queues/pause-all.ts";
export { readyAmong, readyTenants, readyTenantsAmong, top } from "./queues/ready-queues.ts";
export { queueScaling } from "./queues/scaling.ts";
export { queueStats, type QueueStats } from "./queues/stats.ts";
export { workLeft } from "./queues/work-left.ts";
export { inParts } from "./remote/in-parts.ts";
export { createLongPoll, type LongPoll } from "./remote/long-poll.ts";
export { LeaseTokenUsedError, type Handed } from "./remote/leased-before.ts";
export { ackWithChildren } from "./remote/ack-with-children.ts";
export { releaseLease } from "./remote/release-lease.ts";
export { releaseRemote } from "./remote/release.ts";
export {
  settleRemote,
  type Ack,
  type Held,
  type Nack,
  type RemoteOutcome,
  type RemoteSettlementDeps,
} from "./remote/settle.ts";
export { cronFault } from "./schedules/cron/cron.ts";
export { deleteSchedule } from "./schedules/delete.ts";
export { findSchedule, type SeenSchedule } from "./schedules/find.ts";
export { listSchedules } from "./schedules/list.ts";
export { pauseSchedule, resumeSchedule } from "./schedules/pause.ts";
export { showSchedule, showSchedules } from "./schedules/show.ts";
export { createSchedule, putSchedule } from "./schedules/store.ts";
export { findJobSteps, findJobStepsText, findLeasedSteps, type LeasedSteps } from "./steps/find.ts";
export { park } from "./steps/park.ts";
export { sendSignal } from "./steps/signal.ts";
export { storeStep } from "./steps/store.ts";
export { complete } from "./settle/complete.ts";
export { completeAndTakeNext, type TakeNext } from "./settle/complete-and-take-next.ts";
export {
  completeWithChildren,
  type Spawned,
  type SpawnOutcome,
  type SpawnRefusal,
} from "./settle/complete-with-children.ts";
export { fail, type Failure } from "./settle/fail.ts";
export { verdictAfterFailure } from "./settle/verdict.ts";
export { NoRoomError, takeOrThrow } from "./shares.ts";
export { writeJson } from "./room/json-text.ts";
export { withinHeap } from "./room/bytes.ts";
export { announce, hint } from "./signal/announce.ts";
export { fleetSignal, type FleetSignal } from "./signal/fleet.ts";
export { defaultKeys, keysOf } from "./signal/keys.ts";
export { allTenants, presence_beat_ms, type SeenWorker, type WorkerPresence } from "./signal/presence.ts";
export { createRedisOwner, requireOwnRedis, sharedRedis } from "./signal/redis-owner.ts";
export { requireSignal, signalTrouble } from "./signal/require-signal.ts";
export { SignalUnavailableError, wakeMark, type Woken } from "./signal/signal.ts";
export { localPermits, type Permit, type RateLimit } from "./signal/token-bucket.ts";
export { enqueueAll } from "./submit/enqueue-all.ts";
export type { EnqueueOptions } from "./submit/enqueue.ts";
export type { EnqueueOutcome, Submission } from "./submit/outcome.ts";
export { submit } from "./submit/submit.ts";
export { createSubmitter, type Submitter } from "./submit/submitter.ts";
export { createToken } from "./tokens/create.ts";
export { findTokens, type FoundToken } from "./tokens/find.ts";
export { listTokens, showToken } from "./tokens/list.ts";
export { noteTokenUse } from "./tokens/note-use.ts";
export { provisionTenant } from "./tokens/provision-tenant.ts";
export { revokeToken } from "./tokens/revoke.ts";
export { rotateToken } from "./tokens/rotate.ts";
export type { MadeToken } from "./tokens/rows.ts";
export { signingKey } from "./tokens/signing-key.ts";
export { closeSession, openSession, whoIs, type WhoIs } from "./tokens/session.ts";
export { hashToken, isSessionText, isTokenText } from "./tokens/token.ts";
export { clearAway } from "./maintenance/cleaner.ts";
export { createSweeper } from "./maintenance/sweep/sweeper.ts";
export type { LoopDeps, SweepDeps } from "./maintenance/loop-deps.ts";
