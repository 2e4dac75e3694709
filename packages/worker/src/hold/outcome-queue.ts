import type { RunningJob } from "../consume/running-jobs.ts";
import type { Ending } from "../run/outcome.ts";

/** An outcome on its way to the database. */
export type Settlement = { job: RunningJob; outcome: Ending };

const flushes_max = 2;
const batch_max = 500;
const batch_bytes_max = 4 * 1_048_576;

/**
 * Outcomes on their way to the database, those that are ready together in one batch of at most `rows_max`. When idle, one
 * goes at once; when busy, those that arrive during a flush make up the next one. `flushed` is called after each flush.
 *
 * @example
 * const queue = createOutcomeQueue(flush, tellIdle);
 * queue.add({ job, outcome });
 */
export function createOutcomeQueue(
  flush: (batch: Settlement[]) => Promise<void>,
  flushed: () => void,
  rows_max = batch_max,
) {
  const waiting: Settlement[] = [];
  let flushes = 0;

  const kick = (): void => {
    if (flushes >= flushes_max || waiting.length === 0) return;
    flushes += 1;
    // After this turn of the event loop, so that handlers ending in the same turn share a statement.
    setImmediate(() => {
      void flush(takeBatch(waiting, rows_max)).finally(() => {
        flushes -= 1;
        kick();
        flushed();
      });
    });
  };

  return {
    add(one: Settlement): void {
      waiting.push(one);
      kick();
    },
    isBusy: () => flushes > 0,
  };
}

/** Take as many of the first as fit in one statement, and at least one. */
function takeBatch(waiting: Settlement[], rows_max: number): Settlement[] {
  let rows = 0;
  for (let bytes = 0; rows < waiting.length && rows < rows_max; rows += 1) {
    const outcome = waiting[rows]?.outcome;
    bytes += outcome?.kind === "succeeded" ? outcome.bytes : 0;
    for (const { line } of outcome?.log ?? []) bytes += line.length;
    if (rows > 0 && bytes > batch_bytes_max) break;
  }
  return waiting.splice(0, rows);
}
