import { composed } from "../database/composed.ts";
import { jobStatuses } from "@atlasqueue/contract";
import { asyncCommit, lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

const sums = jobStatuses.map((status) => `sum(${status})`).join(", ");
const additions = jobStatuses.map((status) => `${status} = total.${status} + excluded.${status}`).join(", ");

/**
 * Add up to `rows_max` of the changes to the totals of their queues. Returns how many; fewer than asked for means that
 * only those locked by others are left. One statement, so a reader sees each change once, before or after; not synced
 * to disk, as a crash forgets the sum and the deletions together. Throws after 200 ms (`isLocked`) while another
 * transaction has a total locked: the changes wait.
 *
 * @example
 * while ((await foldCounts(deps, 1_000)) === 1_000);
 */
export async function foldCounts(deps: Pick<Deps, "database">, rows_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ folded: number }>({ text: folding, params: [rows_max] });
  return row?.folded ?? 0;
}

// Folds skip each other's changes, and lock the totals in the same order in all processes: they never deadlock.
const folding = composed(
  "counts/fold",
  ["rows_max"],
  `
  WITH taken AS (
    DELETE FROM atlasqueue.queue_changes WHERE ${asyncCommit} AND ${lockTimeout} AND ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queue_changes LIMIT $1::int FOR UPDATE SKIP LOCKED))
    RETURNING *
  ), added AS (
    INSERT INTO atlasqueue.queue_counts AS total (tenant, queue, ${jobStatuses.join(", ")})
    SELECT tenant, queue, ${sums} FROM taken GROUP BY tenant, queue ORDER BY tenant, queue
    ON CONFLICT (tenant, queue) DO UPDATE SET ${additions}
  )
  SELECT count(*)::int AS folded FROM taken`,
);

const batch_max = 1_000;
/** Statements in one fold, leaving time for other duties. */
const batches_max = 50;

/** Add the changes to the totals until less than a batch is left. */
export async function foldAll(deps: Pick<Deps, "database">): Promise<void> {
  for (let batch = 0; batch < batches_max; batch += 1) if ((await foldCounts(deps, batch_max)) < batch_max) return;
}
