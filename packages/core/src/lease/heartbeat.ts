import { composed } from "../database/composed.ts";
import type { Json } from "@atlasqueue/contract";
import { certainlyNotApplied, KeysContendedError } from "../database/errors.ts";
import { isFree, lockFree } from "../database/skip-locked.ts";
import { ahead } from "../database/pool/on-behalf-of.ts";
import { onceMore } from "../database/pool/once-more.ts";
import { executeOn } from "../database/statement.ts";
import { unsyncedUnlessLate } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";

export type Heartbeat = { id: string; lease_token: string; lease_seconds: number; progress?: Json | undefined };
export type HeartbeatOutcome = { kind: "extended"; locked_until: Date } | { kind: "lease_lost" } | { kind: "unknown" };

/**
 * running → running, until now + `lease_seconds`: the heartbeat for one of a remote worker's jobs, with its progress.
 * It may shorten the lease as well as lengthen it. While another transaction has the job's row locked it asks again and
 * again until the database's deadline, and has no connection meanwhile. It waits behind nothing else of its tenant's.
 *
 * @example
 * const outcome = await heartbeat(deps, "default", { id, lease_token, lease_seconds: 30, progress: { done: 0.4 } });
 */
export async function heartbeat(deps: Deps, tenant: string, beat: Heartbeat): Promise<HeartbeatOutcome> {
  const progress = beat.progress === undefined ? "" : JSON.stringify(beat.progress);
  const params = [beat.id, tenant, beat.lease_token, beat.lease_seconds, progress];
  const { timeout_ms } = deps.database;
  const give_up_at = performance.now() + timeout_ms;
  for (;;) {
    // One cut connection is no outage, of which remote workers would be told.
    const [row] = await onceMore(deps.database, (database) => executeOn(ahead(database))<Beaten>({ text, params }));
    if (!row) return { kind: "unknown" };
    if (row.locked_until) return { kind: "extended", locked_until: row.locked_until };
    if (!row.locked) return { kind: "lease_lost" };
    if (performance.now() >= give_up_at) throw certainlyNotApplied(new KeysContendedError());
    await pause(retry_ms);
  }
}

/** `locked`: it is held, and its row another transaction's. */
type Beaten = { locked_until: Date | null; locked: boolean };
const retry_ms = 250;

// Progress is a hint, and does not wait for the disk, nor does a renewal in good time. `nullif`: when no progress is sent the old
// one stays. The sweep looks at a claim when its leases would have ended, so it must look sooner at a shortened one.
const text = composed(
  "lease/heartbeat",
  ["id", "tenant", "lease_token", "lease_seconds", "progress"],
  `
  WITH held AS MATERIALIZED (
    SELECT id, locked_until FROM atlasqueue.jobs
    WHERE id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
  ), ${lockFree("held")}, beaten AS (
    UPDATE atlasqueue.jobs SET locked_until = now() + make_interval(secs => $4::float8),
                    progress = coalesce(nullif($5, '')::json, progress)
    WHERE ${isFree} AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
      AND ${unsyncedUnlessLate("$4")}
    RETURNING id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = beaten.locked_until FROM beaten
    WHERE token = $3::uuid AND check_at > beaten.locked_until
  )
  SELECT beaten.locked_until, EXISTS (SELECT FROM held) AND NOT EXISTS (SELECT FROM free) AS locked
  FROM atlasqueue.jobs LEFT JOIN beaten ON beaten.id = jobs.id WHERE jobs.id = $1::uuid AND jobs.tenant = $2`,
);
