// What apps/api needs to answer requests. It changes without notice.
export { listActs, showAct } from "../audit/list.ts";
export { newId } from "../ids.ts";
export {
  beginOnce,
  type BegunOnce,
  type KeyedAct,
  endActs,
  type Act,
  type BegunAct,
  type EndedAct,
} from "../audit/record.ts";
export {
  afterSome,
  CallerGoneError,
  cameAfterAPart,
  hadNoRoom,
  isReadOnly,
  lockedError,
  outcomeUnknown,
} from "../database/errors.ts";
export { withPriority, forTenant } from "../database/pool/fair-share.ts";
export type { ActRow, JobRow, OperationRow } from "../database/schema/index.ts";
export { purgeAll, replayAll } from "../dead-letters/bulk.ts";
export { listDeadGroups, type GroupPlace } from "../dead-letters/groups.ts";
export { listDead } from "../dead-letters/list.ts";
export type { DeadPlace } from "../dead-letters/pages.ts";
export { createOperation, createReplay, previewOperation, previewReplay } from "../operations/create.ts";
export { findOperation, listOperations } from "../operations/find.ts";
export { showOperation, showReplay } from "../operations/rows.ts";
export { steerOperation, type Steering } from "../operations/steer.ts";
export { actOnFlow } from "../flows/act-on-flow.ts";
export { findFlow, listFlows } from "../flows/list-flows.ts";
export { viewFlow } from "../flows/show-flow.ts";
export { answerOf, isFlow, type Flow, type FlowJob, tiesOf, underOneKey } from "../flows/flow.ts";
export { flowFaults } from "../flows/flow-faults.ts";
export type { FlowOutcome } from "../flows/submit-flow.ts";
export { listAttempts } from "../jobs/attempts.ts";
export { heldGroups } from "../groups/held.ts";
export { readThroughput } from "../rollups/throughput.ts";
export { bulkJobs } from "../jobs/bulk.ts";
export { deleteFinished } from "../jobs/delete.ts";
export { editAndRetry } from "../jobs/edit-and-retry.ts";
export { cancel } from "../jobs/cancel.ts";
export { explainJob } from "../jobs/explain.ts";
export { findJob, findJobText, findJobByKey } from "../jobs/find.ts";
export { listJobsAt } from "../jobs/list-at.ts";
export { searchJobs } from "../jobs/search.ts";
export { listJobs } from "../jobs/list.ts";
export type { PageRow } from "../jobs/page-row.ts";
export { retry } from "../jobs/retry.ts";
export { showJob } from "../jobs/show.ts";
export { createFinishedWaits, type FinishedWaits } from "../jobs/wait-finished.ts";
export { heartbeat } from "../lease/extend.ts";
export type { LeasedJob } from "../lease/lease.ts";
export { createLiveEvents, type LiveEvents } from "../live/live-events.ts";
export type { LiveEventText } from "../live/listener.ts";
export { createOverview, type OverviewReader } from "../overview/overview.ts";
export { readSeries } from "../rollups/series.ts";
export { addFleetGauges } from "../observe/gauges.ts";
export { mergeMetrics } from "../observe/metrics.ts";
export { createQueueBound, TooManyQueuesError, type QueueBound } from "../queue-bound/queue-bound.ts";
export { createStorageQuota, StorageFullError, type StorageQuota } from "../quota/storage-quota.ts";
export { oldestWaiting } from "../queues/oldest-waiting.ts";
export { resumeQueue } from "../queues/pause.ts";
export { queueScaling, queueStats, type QueueStats } from "../queues/stats.ts";
export { setDefaults } from "../queues/set-defaults.ts";
export {
  inParts,
  settleRemote,
  type Ack,
  type Held,
  type Nack,
  type RemoteOutcome,
  type RemoteSettlementDeps,
} from "../remote/settle.ts";
export { createLongPoll, type LongPoll } from "../remote/long-poll.ts";
export { LeaseTokenUsedError, type Handed } from "../remote/leased-before.ts";
export { ackWithChildren } from "../remote/ack-with-children.ts";
export { releaseLease, releaseRemote } from "../remote/release.ts";
export { cronFault } from "../schedules/cron/cron.ts";
export { findSchedule, type SeenSchedule, listSchedules } from "../schedules/list.ts";
export { deleteSchedule, pauseSchedule, resumeSchedule } from "../schedules/pause.ts";
export { showSchedule, showSchedules } from "../schedules/show.ts";
export { findJobStepsText, findLeasedSteps, type LeasedSteps } from "../steps/find.ts";
export { sendSignal } from "../steps/signal.ts";
export type { Spawned } from "../settle/complete-with-children.ts";
export { NoRoomError, takeOrThrow } from "../shares.ts";
export { writeJson } from "../memory-budget/json-text.ts";
export { withinHeap } from "../memory-budget/bytes.ts";
export { localPermits, type Permit, type RateLimit } from "../signal/token-bucket.ts";
export type { EnqueueOptions } from "../submit/enqueue.ts";
export type { EnqueueOutcome, Submission } from "../submit/outcome.ts";
export { createSubmitter, type Submitter } from "../submit/submitter.ts";
export { findTokens, type FoundToken, noteTokenUse } from "../tokens/find.ts";
export { provisionTenant } from "../tokens/provision-tenant.ts";
export { signingKey } from "../tokens/signing-key.ts";
export { closeSession, openSession, whoIs, type WhoIs } from "../tokens/session.ts";
export { hashToken, isSessionText, isTokenText } from "../tokens/token.ts";
