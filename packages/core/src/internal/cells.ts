// What apps/api and the commands of apps/cli need to run several cells. It changes without notice.
export { CellUnavailableError, createCellMap } from "../cells/map.ts";
