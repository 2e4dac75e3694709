import type { Replay, ReplayFilter } from "@atlasqueue/contract";
import type { ReplayRow } from "../../database/schema/index.ts";
import type { DeadFilter } from "../pages.ts";

/** A row as the wire shows it. */
export function showReplay(row: ReplayRow): Replay {
  return {
    id: row.id,
    state: row.state,
    filter: row.filter,
    patch: row.patch,
    rate: row.rate,
    matched: row.matched,
    matched_complete: row.matched_complete,
    replayed: row.replayed,
    left_over: row.left_over,
    created_by: row.made_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** The wire's filter as the walk over dead letters takes it. */
export function deadFilterOf(tenant: string, { ids, all: _all, ...traits }: ReplayFilter): DeadFilter {
  return ids ? { tenant, ids } : { tenant, ...traits };
}
