import { composed } from "../database/composed.ts";
import type { Json } from "@atlasqueue/contract";
import { lockTimeout, asyncCommitUnlessLate } from "../database/clauses.ts";
import { withPriority } from "../database/pool/fair-share.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

export type Heartbeat = { id: string; lease_token: string; lease_seconds: number; progress?: Json | undefined };
export type HeartbeatOutcome = { kind: "extended"; locked_until: Date } | { kind: "lease_lost" } | { kind: "unknown" };

/**
 * running → running, until now + `lease_seconds`: the heartbeat for one of a remote worker's jobs, with its progress.
 * It may shorten the lease as well as lengthen it. It waits behind nothing else of its tenant's. Throws after 200 ms
 * (`isLocked`) while another transaction has the job locked: repeat it soon.
 *
 * @example
 * const outcome = await heartbeat(deps, "default", { id, lease_token, lease_seconds: 30, progress: { done: 0.4 } });
 */
export async function heartbeat(deps: Deps, tenant: string, beat: Heartbeat): Promise<HeartbeatOutcome> {
  const progress = beat.progress === undefined ? "" : JSON.stringify(beat.progress);
  const params = [beat.id, tenant, beat.lease_token, beat.lease_seconds, progress];
  const [row] = await executeOn(withPriority(deps.database))<Beaten>({ text, params });
  if (!row) return { kind: "unknown" };
  return row.locked_until ? { kind: "extended", locked_until: row.locked_until } : { kind: "lease_lost" };
}

type Beaten = { locked_until: Date | null };

// Progress is a hint, and does not wait for the disk, nor does a renewal in good time. `nullif`: when no progress is sent the old
// one stays. The sweep looks at a claim when its leases would have ended, so it must look sooner at a shortened one.
const text = composed(
  "lease/heartbeat",
  ["id", "tenant", "lease_token", "lease_seconds", "progress"],
  `
  WITH held AS MATERIALIZED (
    SELECT id, locked_until FROM atlasqueue.jobs
    WHERE id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
  ), beaten AS (
    UPDATE atlasqueue.jobs SET locked_until = now() + make_interval(secs => $4::float8),
                    progress = coalesce(nullif($5, '')::json, progress)
    WHERE ${lockTimeout} AND id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
      AND ${asyncCommitUnlessLate("$4")}
    RETURNING id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = beaten.locked_until FROM beaten
    WHERE token = $3::uuid AND check_at > beaten.locked_until
  )
  SELECT beaten.locked_until FROM atlasqueue.jobs LEFT JOIN beaten ON beaten.id = jobs.id WHERE jobs.id = $1::uuid AND jobs.tenant = $2`,
);
