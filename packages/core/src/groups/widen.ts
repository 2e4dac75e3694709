import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { createQueueLines } from "../queues/queue-lines.ts";

/** Groups of a queue looked at in one statement. */
const page_groups = 1_000;

/**
 * Has the groups of queues looked at when more of their jobs may run at once, a page at a time, with `advance` after each.
 * A queue is gone through once at a time, and once more if it was widened again meanwhile; those of a tenant one after
 * another. Otherwise a tenant that changes a limit over and over would have all groups looked at for each change.
 *
 * @example
 * const widener = createGroupWidener(deps, () => advanceAllOverdue(deps));
 * await widener.widened({ tenant: "default", queue: "mail" });
 */
export function createGroupWidener(deps: Pick<Deps, "database">, advance: () => Promise<unknown>) {
  let stopped = false;
  return {
    /** Resolves when its groups, and all that wait in its line, were looked at; at once if somebody else waits for that. */
    widened: createQueueLines(async (queue) => {
      for (let after: string | undefined = ""; after !== undefined && !stopped;) {
        after = await markBlockedGroups(deps, queue, after, page_groups);
        await advance();
      }
    }),
    /** Ends it after the page that is under way: the groups catch up when their next job finishes. */
    stop: () => void (stopped = true),
  };
}

/**
 * Mark one page of a queue's groups with blocked jobs as overdue, as more of these may go now. Returns the last group of the page, for the next one; undefined at the end. Groups left unmarked, because a
 * process died between two pages or another transaction held them, let more through when their next job finishes.
 *
 * @example
 * const last = await markBlockedGroups(deps, { tenant: "default", queue: "mail" }, "", 1_000);
 */
export async function markBlockedGroups(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  after: string,
  groups_max: number,
): Promise<string | undefined> {
  const params = [tenant, queue, after, groups_max];
  const [row] = await executeOn(deps.database)<{ last: string | null; groups: number }>({ text: mark, params });
  return row && row.groups === groups_max ? (row.last ?? undefined) : undefined;
}

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
