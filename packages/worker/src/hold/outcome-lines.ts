import { takeBatch, type Settlement } from "./take-batch.ts";

const flushes_max = 2;

type Line = { waiting: Settlement[]; flushes: number };

/**
 * Outcomes on their way to the database, those that are ready together in one batch. When idle, one goes at once; when
 * busy, those that arrive during a flush make up the next one. Those that need a table more than others do are in a
 * line of their own: while somebody has that table locked, the others are written. `flushed` is called after each flush.
 *
 * @example
 * const lines = createOutcomeLines(flush, tellIdle);
 * lines.add({ job, outcome });
 */
export function createOutcomeLines(flush: (batch: Settlement[]) => Promise<void>, flushed: () => void) {
  /** A line is there for as long as something is in it or under way. */
  const lines = new Map<string, Line>();

  const kick = (name: string, line: Line): void => {
    if (line.flushes >= flushes_max || line.waiting.length === 0) return;
    line.flushes += 1;
    // After this turn of the event loop, so that handlers ending in the same turn share a statement.
    setImmediate(() => {
      void flush(takeBatch(line.waiting)).finally(() => {
        line.flushes -= 1;
        kick(name, line);
        if (line.flushes === 0) lines.delete(name);
        flushed();
      });
    });
  };

  return {
    add(one: Settlement): void {
      const name = lineOf(one);
      const line = lines.get(name) ?? { waiting: [], flushes: 0 };
      lines.set(name, line);
      line.waiting.push(one);
      kick(name, line);
    },
    isBusy: () => lines.size > 0,
  };
}

/** Failures and logs go to the attempts' table, and what follows in a group is in those of groups. */
function lineOf({ job, outcome }: Settlement): string {
  if (outcome.kind !== "succeeded") return "failed";
  return `${outcome.log ? "logged" : "plain"}${job.lease.group_key === null ? "" : " in groups"}`;
}
