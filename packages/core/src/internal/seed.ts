// What `atlasqueue seed` writes a made-up day with.
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
