// What only our own apps and packages need. It changes without notice.
export { recordActs } from "./audit/record.ts";
export { isLocked } from "./database/errors.ts";
export { isUuid } from "./database/literals.ts";
export { requireSchema } from "./database/schema-state.ts";
export { createReadiness } from "./database/server/readiness.ts";
export { requirePostgres } from "./database/server/require-postgres.ts";
export { defaultTenant, type Deps, type QueueRef } from "./deps.ts";
export { createFollowUps, type FollowUps } from "./follow-ups.ts";
export { parentsOf, parentsPage } from "./flows/parents.ts";
export { jobChecks } from "./counts/job-checks.ts";
export { flowOf } from "./flows/flow.ts";
export { childrenFaults, unknownParent } from "./flows/flow-faults.ts";
export { recoverExpired } from "./lease/recover.ts";
export { setLimits } from "./limits/set.ts";
export { promoteAll } from "./maintenance/promote.ts";
export { default_audit_hours } from "./maintenance/retention.ts";
export { addServerGauges } from "./observe/gauges.ts";
export { logDestination } from "./observe/log.ts";
export { pause } from "./pause.ts";
export { pauseQueue } from "./queues/pause.ts";
export { pauseAll } from "./queues/pause-all.ts";
export { putSchedule } from "./schedules/store.ts";
export { park } from "./steps/park.ts";
export { storeStep } from "./steps/store.ts";
export { complete } from "./settle/settle.ts";
export { refusalFaults } from "./settle/complete-with-children.ts";
export { defaultKeys } from "./signal/keys.ts";
export type { SeenWorker } from "./signal/presence.ts";
export { createRedisOwner, requireOwnRedis, sharedRedis } from "./signal/redis-owner.ts";
export { redisSignals } from "./signal/redis/signal.ts";
export { requireSignal, signalTrouble } from "./signal/require-signal.ts";
export { SignalUnavailableError } from "./signal/signal.ts";
export {
  createToken,
  type CreateTokenOutcome,
  rotateToken,
  type RotateTokenOutcome,
  revokeToken,
} from "./tokens/create.ts";
export { listTokens, showToken, type MadeToken } from "./tokens/rows.ts";
export { clearAway } from "./maintenance/cleaner.ts";
export { createSweeper } from "./maintenance/sweep/sweeper.ts";
