import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { countJobs } from "../counts/total.ts";
import { pause } from "../pause.ts";
import { resumeQueue } from "../queues/pause.ts";
import { CellError, type Cell } from "./cell.ts";

/** `paused_at` of what the move has paused: people pause now. Where the rows go, they are released by it. */
const held = "'1970-01-01T00:00:00Z'::timestamptz";

/**
 * From now on nothing of the tenant starts in this cell: no job is claimed, no schedule fires, and no bulk operation does
 * another page. What people had paused stays as it is. Holding it again changes nothing.
 */
export async function hold({ database }: Cell, tenant: string): Promise<void> {
  await executeOn(database)({ text: holdText, params: [tenant] });
}

const holdText = `
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

/** Undo `hold`, and signal the jobs that are ready. */
export async function release({ database, signal }: Cell, tenant: string): Promise<void> {
  const execute = executeOn(database);
  await execute({
    text: `UPDATE atlasqueue.schedules SET paused_at = NULL WHERE tenant = $1 AND paused_at = ${held}`,
    params: [tenant],
  });
  await execute({
    text: `UPDATE atlasqueue.operations SET status = 'running', next_at = now() WHERE tenant = $1 AND status = 'paused' AND next_at = ${held}`,
    params: [tenant],
  });
  for (const queue of await heldQueues({ database }, tenant))
    await resumeQueue({ database, signal, observe: () => {} }, { tenant, queue });
}

export async function heldQueues({ database }: Pick<Cell, "database">, tenant: string): Promise<string[]> {
  const text = `SELECT queue FROM atlasqueue.queues WHERE tenant = $1 AND paused_at = ${held} ORDER BY queue`;
  return (await executeOn(database)<{ queue: string }>({ text, params: [tenant] })).map(({ queue }) => queue);
}

/** `quiet_ms`: from the first hold on. `running_ms_max`: how long running jobs may take to end. */
export type Patience = { quiet_ms: number; running_ms_max: number };

const look_ms = 200;
/** A process writes the figures of what it did within that time. */
const figures_ms = 6_000;
/** A statement of ours takes less. What a caller's longer transaction submits is collected later. */
const open_ms_max = 20_000;

/**
 * Hold the tenant, and wait until nothing of it is under way: requests that an API took before it saw the map,
 * transactions that did not see the hold, running jobs, and figures that processes still have in memory. Throws
 * `CellError` if jobs run for longer.
 */
export async function holdUntilStill(cell: Cell, tenant: string, patience: Patience): Promise<void> {
  const { database } = cell;
  const began_at = performance.now();
  await hold(cell, tenant);
  let before = await openTransactions(cell, tenant);
  let idle_at: number | undefined;
  for (;;) {
    const { running } = await countJobs({ database }, tenant);
    const now = performance.now();
    idle_at = running > 0 ? undefined : (idle_at ?? now);
    const waited_ms = now - began_at;
    if (waited_ms > open_ms_max) before = [];
    else if (before.length > 0) before = await openTransactions(cell, tenant, before);
    const is_idle = idle_at !== undefined && now - idle_at >= Math.min(figures_ms, patience.quiet_ms);
    if (is_idle && waited_ms >= patience.quiet_ms && before.length === 0) return;
    if (running > 0 && waited_ms >= patience.running_ms_max)
      throw new CellError(
        `${running} jobs of the tenant ${tenant} still run after ${Math.round(waited_ms / 1_000)} s: wait, cancel them, or allow more time`,
      );
    await pause(Math.min(look_ms, patience.quiet_ms + 1));
    await hold(cell, tenant);
  }
}

/** Of the transaction that is open in the home cell while a tenant moves. */
export const lockOf = (tenant: string) => `atlasqueue move ${tenant}`;

/** The transactions that are open in the database, but for the move's own; with `among`, which of these still are. */
async function openTransactions({ database }: Cell, tenant: string, among: string[] = []): Promise<string[]> {
  const rows = await executeOn(database)<{ id: string }>({ text: open, params: [textArray(among), lockOf(tenant)] });
  return rows.map(({ id }) => id);
}

const open = `
  SELECT virtualxid AS id FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND granted AND mode = 'ExclusiveLock' AND datname = current_database() AND pid <> pg_backend_pid()
    AND ($1 = '{}' OR virtualxid = ANY($1::text[])) AND pid NOT IN (
      SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND (classid::bigint << 32 | objid::bigint) = hashtextextended($2, 0))`;
