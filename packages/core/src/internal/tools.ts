// What `atlasqueue doctor` and the other commands of apps/cli need. It changes without notice.
export { countDrift } from "../counts/drift.ts";
export { serverConnections, serverSettings } from "../database/server/connections.ts";
export { schemaState } from "../database/schema-state.ts";
export { clockSkewMs } from "../database/server/clock.ts";
export { requireRights } from "../database/server/rights.ts";
export { findBrokenJobs } from "../counts/job-checks.ts";
export { overdueEdges } from "../flows/keeping/overdue-edges.ts";
export { submitFlow } from "../flows/submit-flow.ts";
export { readOutlook } from "../maintenance/outlook.ts";
export { rebuildSignals } from "../maintenance/rebuild-signals.ts";
export { queueDepths } from "../queues/depths.ts";
export { oldestReady } from "../queues/oldest-ready.ts";
export { ready_ms_max, whyLeft, type Left } from "../queues/why-left.ts";
export { isOthersRedis } from "../signal/redis-owner.ts";
export { enqueue } from "../submit/enqueue.ts";
export type { TokenWish } from "../tokens/create.ts";
export { grantStatements, grantSubmitStatements, migrationScript } from "../database/migrating/script.ts";
