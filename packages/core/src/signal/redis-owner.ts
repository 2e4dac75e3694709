import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { pause } from "../pause.ts";
import { SettingError } from "../settings/setting-error.ts";
import type { Signal } from "./signal.ts";

type OwnerDeps = Deps & { signal: Signal };

const renewal_ms = 60_000;
/** Of a renewal: how often a process looks. */
const looks = 3;
/**
 * In renewals: how old a process is before it writes. The nonces that a copy was made with are in Redis until the first
 * database writes its next one, so a process that knows only those cannot tell whose they are.
 */
const silent = 2;
/** In renewals: how long a database stays refused after it last saw another one write. */
const refused_for = 5;
/** In renewals: how long a nonce stays in Redis. The row has all that were written meanwhile. */
const kept = 15;

export const sharedRedis =
  "REDIS_URL: another database uses this Redis with the same keys, and had it first. Give this database a Redis of its own, or other " +
  "names in JOB_QUEUE_KEY and DLQ_KEY";

/**
 * For a program's start: throws `SettingError` if another database had this Redis first, and is at work. Anything that is
 * away leaves that to a later look.
 */
export async function requireOwnRedis(deps: OwnerDeps): Promise<void> {
  if (await isOthersRedis(deps).catch(() => false)) throw new SettingError(sharedRedis);
}

/**
 * Notices that another database uses the same keys of this Redis, such as a copy of ours: each would take the other's
 * ids. A nonce is renewed each minute in PostgreSQL and then in Redis, by one process of those that share a database. If
 * Redis has a nonce that this database never wrote, nothing is written over it. If that nonce changes, another database
 * is at work there, and had Redis first: this one is refused. A nonce that stays the same was left by a database that is
 * gone, as after a restore or a failover, and ends by itself. `renew_ms` is for tests.
 *
 * @example
 * const owner = createRedisOwner(deps);
 * await owner.run(stop, () => worker.stop());
 */
export function createRedisOwner(deps: OwnerDeps, { renew_ms = renewal_ms } = {}) {
  const writes_at = performance.now() + silent * renew_ms;
  let refused = false;
  return {
    isRefused: () => refused,
    async run(stop: AbortSignal, onRefused = () => {}): Promise<void> {
      while (deps.signal.nonce && !stop.aborted) {
        // If Redis or PostgreSQL is down or not migrated, others report it.
        const found = await isOthersRedis(deps, renew_ms, performance.now() >= writes_at).catch(() => refused);
        if (found && !refused) {
          deps.observe({ event: "redis_shared", reason: sharedRedis });
          onRefused();
        }
        refused = found;
        await pause((renew_ms / looks) * (1 + Math.random() / 10), stop);
      }
    },
  };
}

/** Whether another database had this Redis first, and is at work. One look, which notes what it finds. */
export async function isOthersRedis(deps: OwnerDeps, renew_ms = renewal_ms, writes = false): Promise<boolean> {
  const { nonce } = deps.signal;
  if (!nonce) return false;
  // Before the row, which has each nonce before Redis has it.
  const found = await nonce.read();
  const execute = executeOn(deps.database);
  const [row = nobodys] = await execute<Row>({ text: read, params: [renew_ms, refused_for * renew_ms] });
  if (found !== undefined && !row.nonces.includes(found)) {
    if (found === row.stranger) return row.refused;
    const changed = row.stranger !== null;
    await execute({ text: note, params: [found, changed ? refused_for * renew_ms : 0] });
    return changed;
  }
  if (row.refused) return true;
  if (writes && row.due) {
    const [renewed] = await execute<{ nonces: string[] }>({ text: note, params: ["", renew_ms] });
    if (renewed) await nonce.write(renewed.nonces, kept * renew_ms);
  }
  return false;
}

type Row = { nonces: string[]; stranger: string | null; due: boolean; refused: boolean };
const nobodys: Row = { nonces: [], stranger: null, due: true, refused: false };

// A time further ahead than ours can be was written before the clock was set back.
const read = `
  SELECT to_json(nonces) AS nonces, stranger, NOT (renewed_at > now() - $1::float8 * interval '1 ms' AND renewed_at <= now()) AS due,
         coalesce(refused_until > now() AND refused_until <= now() + $2::float8 * interval '1 ms', false) AS refused
  FROM atlasqueue.redis_owner`;

// Without a stranger it is a renewal, which only one of those that try at once makes.
const note = composed(
  "signal/note-redis-nonce",
  ["stranger", "ms"],
  `
  INSERT INTO atlasqueue.redis_owner AS kept (nonces, stranger, refused_until)
  SELECT CASE WHEN $1 = '' THEN ARRAY[gen_random_uuid()::text] ELSE '{}' END, nullif($1, ''),
         CASE WHEN $1 <> '' THEN now() + $2::float8 * interval '1 ms' END
  WHERE ${lockTimeout}
  ON CONFLICT (one) DO UPDATE
  SET nonces = (excluded.nonces || kept.nonces)[:${kept + 1}], stranger = excluded.stranger, refused_until = excluded.refused_until,
      renewed_at = CASE WHEN $1 = '' THEN now() ELSE kept.renewed_at END
  WHERE $1 <> '' OR NOT (kept.renewed_at > now() - $2::float8 * interval '1 ms' AND kept.renewed_at <= now())
  RETURNING to_json(nonces) AS nonces`,
);
