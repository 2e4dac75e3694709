import type { RunningJob } from "../consume/running-jobs.ts";
import type { Ending } from "../run/outcome.ts";

const batch_max = 500;
const batch_bytes_max = 4 * 1_048_576;

/** An outcome on its way to the database. */
export type Settlement = { job: RunningJob; outcome: Ending };

/** Take as many of the first as fit in one statement, and at least one. */
export function takeBatch(waiting: Settlement[]): Settlement[] {
  let rows = 0;
  for (let bytes = 0; rows < waiting.length && rows < batch_max; rows += 1) {
    const outcome = waiting[rows]?.outcome;
    bytes += outcome?.kind === "succeeded" ? outcome.bytes : 0;
    for (const { line } of outcome?.log ?? []) bytes += line.length;
    if (rows > 0 && bytes > batch_bytes_max) break;
  }
  return waiting.splice(0, rows);
}
