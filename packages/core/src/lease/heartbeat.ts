import type { Json } from "@atlasqueue/contract";
import { lockedError } from "../database/errors.ts";
import { ahead } from "../database/pool/on-behalf-of.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { extendLeases } from "./extend.ts";

type Heartbeat = { id: string; lease_token: string; lease_seconds: number; progress?: Json | undefined };
export type HeartbeatOutcome = { kind: "extended"; locked_until: Date } | { kind: "lease_lost" } | { kind: "unknown" };

/**
 * `extendLeases` for one of a remote worker's jobs. It waits behind nothing else of its tenant's. Throws (`isLocked`) while
 * another transaction has the job locked: repeat it soon.
 *
 * @example
 * const outcome = await heartbeat(deps, "default", { id, lease_token, lease_seconds: 30, progress: { done: 0.4 } });
 */
export async function heartbeat(deps: Deps, tenant: string, beat: Heartbeat): Promise<HeartbeatOutcome> {
  const own = { database: ahead(deps.database) };
  const how = { tenant, progressOf: () => beat.progress };
  const { locked, locked_until } = await extendLeases(own, [beat], beat.lease_seconds, how);
  if (locked.length > 0) throw lockedError();
  if (locked_until) return { kind: "extended", locked_until };
  const known = await executeOn(own.database)({ text: find, params: [beat.id, tenant] });
  return { kind: known.length > 0 ? "lease_lost" : "unknown" };
}

const find = "SELECT FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2";
