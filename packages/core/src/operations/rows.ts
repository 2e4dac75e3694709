import type { JsonObject, Operation, Replay, ReplayFilter } from "@atlasqueue/contract";
import type { OperationRow } from "../database/schema/index.ts";
import type { DeadFilter } from "../dead-letters/pages.ts";

/** A row as the wire shows it. */
export const showOperation = (row: OperationRow): Operation => ({
  id: row.id,
  kind: row.kind,
  status: row.status,
  filter: row.filter as JsonObject,
  total: row.total,
  total_complete: row.total_complete,
  done: row.done,
  failed: row.failed,
  created_by: row.made_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
});

/** A replay, in the words of its own routes. */
export function showReplay(row: OperationRow): Replay {
  const { patch, rate } = row;
  const { error = null, ...filter } = row.filter;
  const { kind: _kind, status, total, total_complete, done, failed, ...shown } = showOperation(row);
  const counts = { matched: total, matched_complete: total_complete, replayed: done, left_over: failed };
  return { ...shown, ...counts, state: status, filter, error, patch, rate };
}

/** The wire's filter as the walk over dead letters takes it. */
export function deadFilterOf(tenant: string, { ids, all: _all, ...traits }: ReplayFilter): DeadFilter {
  return ids ? { tenant, ids } : { tenant, ...traits };
}

/**
 * When the next page of an operation is due. Later than its rate asks for, and than the longest rest, is now: the
 * database's clock was set back, and it would rest until the clock is where it was.
 */
export const dueAt =
  "CASE WHEN next_at > now() + make_interval(secs => 60 + coalesce(2 / rate, 0)) THEN now() ELSE next_at END";
