// What the commands of apps/cli need, and a queue in memory for tests. It changes without notice.
export { countDrift, findBrokenJobs } from "../counts/job-checks.ts";
export { serverConnections, serverSettings, clockSkewMs } from "../database/server/connections.ts";
export { schemaState } from "../database/schema-state.ts";
export { requireRights } from "../database/server/rights.ts";
export { ownFlow } from "../flows/own-flow.ts";
export { overdueEdges } from "../flows/keeping/overdue-edges.ts";
export { submitFlow } from "../flows/submit-flow.ts";
export { readDueSummary } from "../maintenance/due-summary.ts";
export { rebuildWakeUps } from "../maintenance/resignal.ts";
export { queueDepths, oldestReady } from "../queues/all-tenants.ts";
export { ready_ms_max, whyLeft, type Left } from "../queues/workers.ts";
export { readCron } from "../schedules/cron/cron.ts";
export { isOthersRedis } from "../signal/redis-owner.ts";
export { ownSignal } from "../steps/signal.ts";
export { enqueue } from "../submit/enqueue.ts";
export { ownSubmission } from "../submit/own-submission.ts";
export type { TokenWish } from "../tokens/create.ts";
export { grantStatements, grantSubmitStatements, migrationScript } from "../database/migrating/script.ts";
export { countMixedMoves } from "../counts/changes.ts";
export { foldCounts } from "../counts/fold.ts";
export { countJobs } from "../counts/total.ts";
export { numberArray, textArray } from "../database/literals.ts";
export { refreshStatistics } from "../database/server/refresh-statistics.ts";
export { executeOn } from "../database/statement.ts";
export { fingerprintOf } from "../dead-letters/fingerprint.ts";
export { foldMinutes } from "../rollups/fold.ts";
export { addFigures, createTally, noFigures, type Rollup } from "../rollups/tally.ts";
export { writeRollups } from "../rollups/write.ts";
export { moveTenant, type MoveStep } from "../cells/move.ts";
export {
  CellError,
  cellNamed,
  emptiest,
  listPlaces,
  placeTenant,
  readPlace,
  type Cell,
  type Cells,
} from "../cells/place.ts";
