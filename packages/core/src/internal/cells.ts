// What apps/api and the commands of apps/cli need to run several cells. It changes without notice.
export { CellUnavailableError, createCellMap, map_kept_ms, type CellMap } from "../cells/map.ts";
