import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { createQueueLines } from "../queues/queue-lines.ts";

/** Groups of a queue looked at in one statement. */
const page_groups = 1_000;

/**
 * Has the groups of queues looked at when more of their jobs may run at once, a page at a time, with `advance` after each.
 * A queue is gone through once at a time, and once more if it was widened again meanwhile; those of a tenant one after
 * another. Otherwise whoever changes a limit over and over would note all groups for each change, and everybody's groups
 * would wait behind the notes.
 *
 * @example
 * const widener = createGroupWidener(deps, () => groups.kick());
 * await widener.widened({ tenant: "default", queue: "mail" });
 */
export function createGroupWidener(deps: Pick<Deps, "database">, advance: () => Promise<unknown>) {
  let stopped = false;
  return {
    /** Resolves when its groups, and all that wait in its line, were looked at; at once if somebody else waits for that. */
    widened: createQueueLines(async (queue) => {
      for (let after: string | undefined = ""; after !== undefined && !stopped;) {
        after = await noteBlockedGroups(deps, queue, after, page_groups);
        await advance();
      }
    }),
    /** Ends it after the page that is under way: the groups catch up when their next job finishes. */
    stop: () => void (stopped = true),
  };
}

/**
 * Note one page of a queue's groups with blocked jobs, more of which may go now, for `advanceGroups` to look at. Not those
 * that are noted; but a note that is locked is being dealt with, by a look that knows of less room, and counts as none.
 * Returns the last group of the page, for the next one; undefined at the end. Groups left unnoted, because a process died
 * between two pages, catch up when their next job finishes.
 *
 * @example
 * const last = await noteBlockedGroups(deps, { tenant: "default", queue: "mail" }, "", 1_000);
 */
export async function noteBlockedGroups(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
  after: string,
  groups_max: number,
): Promise<string | undefined> {
  const params = [tenant, queue, after, groups_max];
  const [row] = await executeOn(deps.database)<{ last: string | null; groups: number }>({ text: note, params });
  return row && row.groups === groups_max ? (row.last ?? undefined) : undefined;
}

const note = composed(
  "groups/note-blocked",
  ["tenant", "queue", "after", "groups_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT group_key FROM job_groups WHERE tenant = $1 AND queue = $2 AND group_key > $3 ORDER BY group_key LIMIT $4::int
  ), noted AS (
    INSERT INTO group_handovers (tenant, queue, group_key)
    SELECT $1, $2, page.group_key FROM page, LATERAL (
      SELECT FROM jobs WHERE tenant = $1 AND queue = $2 AND jobs.group_key = page.group_key AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT 1) AS blocked
    WHERE page.group_key NOT IN (
      SELECT group_key FROM group_handovers
      WHERE tenant = $1 AND queue = $2 AND group_key > $3 AND group_key <= (SELECT max(group_key) FROM page)
      FOR KEY SHARE SKIP LOCKED)
  )
  SELECT max(group_key) AS last, count(*)::int AS groups FROM page`,
);
