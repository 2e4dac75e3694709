import { DatabaseTimeoutError } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";

/**
 * Parts of a WITH: `found` is one job, by `which`, with `columns`; `free` is the same if no other transaction has its row
 * locked, and none has changed it since this statement's snapshot.
 *
 * Every statement that writes a step, a signal or a wait of a job changes the job's row too. So whoever locks the row in
 * the version that its snapshot shows has seen all of them, and no other comes in between. Without this, a signal
 * could be committed after a statement looked for it and before it parked its job, and would wake nobody.
 */
export const asSeen = (columns: string, which: string, joins = "") => `
  found AS MATERIALIZED (
    SELECT jobs.id, jobs.xmin AS version, ${columns}
    FROM atlasqueue.jobs ${joins} WHERE ${which}
  ), locked AS MATERIALIZED (
    SELECT id, xmin AS version FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM found)) FOR NO KEY UPDATE SKIP LOCKED
  ), free AS MATERIALIZED (
    SELECT found.* FROM found JOIN locked ON locked.id = found.id AND locked.version = found.version
  )`;

const again_ms = 10;

/**
 * Send a statement until the row it is about was free. It reads everything anew each time, and waits for no lock. Gives
 * up at the database's deadline, with nothing applied.
 */
export async function untilFree<T>({ database }: Pick<Deps, "database">, send: () => Promise<T | "again">): Promise<T> {
  const last = performance.now() + database.timeout_ms;
  for (let tries = 1; ; tries += 1) {
    const answer = await send();
    if (answer !== "again") return answer;
    if (performance.now() > last) throw new DatabaseTimeoutError(database.timeout_ms, "not_applied");
    await pause(again_ms * Math.min(tries, 20) * (0.5 + Math.random()));
  }
}
