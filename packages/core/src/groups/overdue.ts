import { composed } from "../database/composed.ts";
import { inTransaction, idleTxTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";
import { notesInTurn } from "../outbox/notes.ts";
import { advanceIn, readyOf, type GroupRef } from "./advance.ts";

const page_groups = 500;
/** Pages in one go, leaving a sweep time for its other duties. */
const pages_max = 50;

/**
 * Lets the next jobs of overdue groups through, and signals them: of those whose next job was locked when it should have
 * gone, or that had room for more than one statement lets through.
 *
 * @example
 * await advanceAllOverdue(deps);
 */
export async function advanceAllOverdue(deps: Deps & { signal: Signal }): Promise<void> {
  for (let page = 0; page < pages_max; page += 1) {
    const { groups, ready } = await advanceOverdue(deps, page_groups);
    await announce(deps, ready);
    if (groups === 0) return;
  }
}

/** A page of overdue groups, of which each tenant has an equal share. Waits for nothing: what is locked is left out. */
export async function advanceOverdue(
  deps: Pick<Deps, "database" | "observe">,
  groups_max: number,
): Promise<{ groups: number; ready: ReadyJob[] }> {
  const { groups, through } = await inTransaction(deps.database, async (execute) => {
    const taken = await execute<GroupRef>({ text: take, params: [groups_max] });
    return { groups: taken.length, through: await advanceIn(execute, taken) };
  });
  return { groups, ready: readyOf(deps, through) };
}

const take = composed(
  "groups/take-overdue",
  ["groups_max"],
  `
  WITH RECURSIVE ${notesInTurn("atlasqueue.job_groups WHERE overdue_at <= now()", "$1::int")}
  SELECT page.* FROM turns CROSS JOIN LATERAL (
    SELECT tenant, queue, group_key FROM atlasqueue.job_groups
    WHERE overdue_at <= now() AND job_groups.tenant = turns.tenant AND ${idleTxTimeout}
    ORDER BY overdue_at LIMIT share FOR UPDATE SKIP LOCKED) AS page`,
);
