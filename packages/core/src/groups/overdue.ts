import { composed } from "../database/composed.ts";
import { inTransaction, idleTxTimeout } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { ReadyJob, Signal } from "../signal/signal.ts";
import { notesInTurn } from "../outbox/notes.ts";
import { advanceIn, readyOf, type GroupRef } from "./advance.ts";
import type { Execute } from "../database/statement.ts";
import type { Handled, OutboxRow } from "../outbox/drain-page.ts";

/** Groups looked at in one statement. */
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
export async function advanceAllOverdue(deps: Deps & { signal: Signal }, pages = pages_max): Promise<void> {
  for (let page = 0; page < pages; page += 1) {
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

/**
 * More jobs of the groups of some queues may run at once: their groups with blocked jobs are overdue from now on, and
 * `advance`, which is called after the commit, lets the jobs through. Of each tenant a page of one queue's groups is looked
 * at; the row goes on from there (`after`). A group that another transaction holds is passed over: it lets more through
 * when its next job finishes.
 */
export async function widenGroups(
  execute: Execute,
  rows: readonly OutboxRow[],
  advance: () => Promise<void>,
): Promise<Handled> {
  const again: OutboxRow[] = [];
  for (const [tenant, own] of Map.groupBy(rows, (row) => row.tenant)) {
    const [row, ...others] = own as [OutboxRow, ...OutboxRow[]];
    const { queue, after } = placeOf(row);
    const params = [tenant, queue, after ?? "", page_groups];
    const [page] = await execute<{ last: string | null; groups: number }>({ text: mark, params });
    if (page?.groups === page_groups) again.push({ ...row, payload: { ...row.payload, after: page.last } });
    // One that begins now stands for all that the same queue has by now.
    again.push(...others.filter((other) => after !== undefined || placeOf(other).queue !== queue));
  }
  return { again, committed: advance };
}

const placeOf = ({ payload }: OutboxRow) => payload as { queue: string; after?: string };

const mark = composed(
  "groups/mark-blocked",
  ["tenant", "queue", "after", "groups_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT group_key FROM atlasqueue.job_groups WHERE tenant = $1 AND queue = $2 AND group_key > $3 ORDER BY group_key LIMIT $4::int
  ), free AS MATERIALIZED (
    SELECT locked.spot FROM page CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND queue = $2 AND jobs.group_key = page.group_key AND group_seq > 0
      ORDER BY group_seq LIMIT 1) AS blocked
    CROSS JOIN LATERAL (
      SELECT ctid AS spot FROM atlasqueue.job_groups
      WHERE tenant = $1 AND queue = $2 AND job_groups.group_key = page.group_key AND overdue_at IS NULL
      FOR UPDATE SKIP LOCKED) AS locked
  ), marked AS (
    UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE ctid = ANY(ARRAY(SELECT spot FROM free))
  )
  SELECT max(group_key) AS last, count(*)::int AS groups FROM page`,
);
