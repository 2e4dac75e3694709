import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { countJobs } from "../counts/total.ts";
import { pause } from "../pause.ts";
import { resumeQueue } from "../queues/pause.ts";
import { CellError, type Cell } from "./place.ts";

/** `paused_at` of what a move has paused: people pause now. It is copied, and releases the same things there. */
const held = "'1970-01-01T00:00:00Z'::timestamptz";

/** `quiet_ms`: from the first hold on. `running_ms_max`: how long running jobs may take to end. */
export type Patience = { quiet_ms: number; running_ms_max: number };

const look_ms = 200;
/** A process writes the figures of what it did within that time. */
const figures_ms = 6_000;
/** A statement of ours takes less. What a caller's longer transaction submits is collected later. */
const open_ms_max = 20_000;

/**
 * From now on nothing of the tenant starts in this cell: no job is claimed, no schedule fires, and no bulk operation does
 * another page. What people had paused stays as it is. Then wait until nothing is under way: requests that an API took
 * before it saw the map, transactions that did not see the hold, running jobs, and figures that processes have in memory.
 * Throws `CellError` if jobs run for longer.
 */
export async function holdUntilStill({ database }: Cell, tenant: string, patience: Patience): Promise<void> {
  const execute = executeOn(database);
  const openOf = async (among: string[]) =>
    (await execute<{ id: string }>({ text: open, params: [textArray(among), lockOf(tenant)] })).map(({ id }) => id);
  const began_at = performance.now();
  await execute({ text: hold, params: [tenant] });
  let before = await openOf([]);
  for (let idle_at: number | undefined; ;) {
    const { running } = await countJobs({ database }, tenant);
    const now = performance.now();
    const waited_ms = now - began_at;
    idle_at = running > 0 ? undefined : (idle_at ?? now);
    if (waited_ms > open_ms_max) before = [];
    else if (before.length > 0) before = await openOf(before);
    const is_idle = idle_at !== undefined && now - idle_at >= Math.min(figures_ms, patience.quiet_ms);
    if (is_idle && waited_ms >= patience.quiet_ms && before.length === 0) return;
    if (running > 0 && waited_ms >= patience.running_ms_max)
      throw new CellError(
        `${running} jobs of ${tenant} still run after ${Math.round(waited_ms / 1_000)} s: cancel them, or allow more time`,
      );
    await pause(look_ms);
    // A queue may be new, or someone resumed it.
    await execute({ text: hold, params: [tenant] });
  }
}

const hold = `
  WITH there AS (
    SELECT queue FROM atlasqueue.queue_counts WHERE tenant = $1 UNION SELECT queue FROM atlasqueue.queue_changes WHERE tenant = $1
    UNION SELECT queue FROM atlasqueue.queues WHERE tenant = $1
  ), paused AS (
    INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at) SELECT $1, queue, ${held} FROM there ORDER BY queue
    ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = ${held} WHERE known.paused_at IS NULL
  ), quiet AS (
    UPDATE atlasqueue.schedules SET paused_at = ${held} WHERE tenant = $1 AND paused_at IS NULL
  )
  UPDATE atlasqueue.operations SET status = 'paused', next_at = ${held} WHERE tenant = $1 AND status = 'running'`;

/** What the home cell's transaction locks while a tenant moves. */
export const lockOf = (tenant: string) => `atlasqueue move ${tenant}`;

// The transactions that are open in the database, but for the move's own; of some, those that still are.
const open = `
  SELECT virtualxid AS id FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND granted AND mode = 'ExclusiveLock' AND datname = current_database() AND pid <> pg_backend_pid()
    AND ($1 = '{}' OR virtualxid = ANY($1::text[])) AND pid NOT IN (
      SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended($2, 0))`;

/** Let what is held go on, and signal the jobs that are ready. */
export async function release({ database, signal }: Cell, tenant: string): Promise<void> {
  await executeOn(database)({ text: releasing, params: [tenant] });
  for (const queue of await heldQueues({ database }, tenant))
    await resumeQueue({ database, signal, observe: () => {} }, { tenant, queue });
}

const releasing = `
  WITH fires AS (UPDATE atlasqueue.schedules SET paused_at = NULL WHERE tenant = $1 AND paused_at = ${held})
  UPDATE atlasqueue.operations SET status = 'running', next_at = now() WHERE tenant = $1 AND status = 'paused' AND next_at = ${held}`;

export async function heldQueues({ database }: Pick<Cell, "database">, tenant: string): Promise<string[]> {
  const text = `SELECT queue FROM atlasqueue.queues WHERE tenant = $1 AND paused_at = ${held} ORDER BY queue`;
  return (await executeOn(database)<{ queue: string }>({ text, params: [tenant] })).map(({ queue }) => queue);
}
