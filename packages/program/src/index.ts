// What the programs start with: settings from the environment, processes that are kept running, signals to stop.
export { endWithin } from "./end-within.ts";
export { startFleet, whenStarted, type Fleet } from "./fleet/fleet.ts";
export { heldLog } from "./fleet/held-log.ts";
export { apart, sharingPorts } from "./fleet/launch.ts";
export { runMember, type MemberParts, type RunningMember } from "./fleet/member.ts";
export { loadTelemetry, type LoadedTelemetry } from "./load-telemetry.ts";
export { listenError, troubleLine } from "./process.ts";
export { readCells, type Cell } from "./settings/cells.ts";
export {
  keptFor,
  retentionSettings,
  retryPolicy,
  retrySettings,
  serverConfig,
  serverSettings,
  type CellConfig,
  type KeptFor,
  type ServerConfig,
} from "./settings/server-settings.ts";
export { parseSettings, setting } from "./settings/settings.ts";
export {
  telemetryConfig,
  telemetrySettings,
  withOwnTelemetry,
  type TelemetryConfig,
} from "./settings/telemetry-settings.ts";
