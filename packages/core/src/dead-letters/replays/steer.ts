import type { Replay } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import type { ReplayRow } from "../../database/schema/index.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";

export type Steering = "pause" | "resume" | "cancel";
export type SteerOutcome = { kind: "steered"; row: ReplayRow } | { kind: "over"; row: ReplayRow } | { kind: "unknown" };

const becomes = { pause: "paused", resume: "running", cancel: "cancelled" } as const satisfies Record<
  Steering,
  Replay["state"]
>;
const changes = { pause: "paused", resume: "resumed", cancel: "cancelled" } as const;

/**
 * Pause a replay, let it go on, or end it: after the page that may be under way, which it waits for, nothing more is
 * replayed. What was replayed stays so. Repeated, it changes nothing.
 *
 * @example
 * const outcome = await steerReplay(deps, "default", id, "pause");
 */
export async function steerReplay(deps: Deps, tenant: string, id: string, what: Steering): Promise<SteerOutcome> {
  const [row] = await executeOn(deps.database)<ReplayRow & { was: Replay["state"] }>({
    text,
    params: [id, tenant, becomes[what]],
  });
  if (!row) return { kind: "unknown" };
  const { was, ...replay } = row;
  if (replay.state !== becomes[what]) return { kind: "over", row: replay };
  if (was !== replay.state) deps.observe({ event: "replay_changed", change: changes[what], tenant, replay_id: id });
  return { kind: "steered", row: replay };
}

// The row is locked first, so that the old state is the one the UPDATE found; one that is over is returned as it is.
const text = composed(
  "dead-letters/steer-replay",
  ["id", "tenant", "state"],
  `
  WITH found AS MATERIALIZED (
    SELECT * FROM dead_letter_replays WHERE id = $1::uuid AND tenant = $2 FOR UPDATE
  ), steered AS (
    UPDATE dead_letter_replays AS replays
    SET state = $3, updated_at = now(), next_at = now(), finished_at = CASE WHEN $3 = 'cancelled' THEN now() END
    FROM found WHERE replays.id = found.id AND found.state IN ('running', 'paused') AND found.state <> $3
    RETURNING replays.*, found.state AS was
  )
  SELECT * FROM steered
  UNION ALL
  SELECT *, state AS was FROM found WHERE NOT EXISTS (SELECT FROM steered)`,
);
