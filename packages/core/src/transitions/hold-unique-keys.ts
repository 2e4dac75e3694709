import { numberArray, textArray, uuidArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema.ts";

/** A unique key, and what takes it when nobody holds it. `window_seconds` is null for "while it is not final". */
export type UniqueName = { tenant: string; queue: string; key: string };
export type Taker = UniqueName & { job_id: string; window_seconds: number | null };
/** `window_over` is null when the job holds the key while it is not final. */
export type HeldKey = UniqueName & { job_id: string; window_over: boolean | null };

/** How long until a row of a job that is not final is looked at: it is not needed for long after the job. */
export const check_seconds = 600;

/**
 * Lock the rows of unique keys until the commit, in one order over all processes, and say who holds them. A key that
 * nobody held is held by `job_id` then; who does not make that job calls `letGoUniqueKeys`. A waiter gets the row as the
 * one before it left it, and its next statement sees the job.
 */
export async function lockUniqueKeys(
  execute: Execute,
  takers: readonly Taker[],
  { patient }: { patient: boolean },
): Promise<readonly HeldKey[]> {
  const text = patient ? lockPatiently : lock;
  return execute<HeldKey>({ text, params: [...nameParams(takers), uuidArray(takers.map((one) => one.job_id))] });
}

/** Say which jobs hold keys from now on. */
export async function giveUniqueKeys(execute: Execute, takers: readonly Taker[]): Promise<void> {
  if (takers.length === 0) return;
  const windows = numberArray(takers.map((one) => one.window_seconds));
  const ids = uuidArray(takers.map((one) => one.job_id));
  await execute({ text: give, params: [...nameParams(takers), ids, windows] });
}

/** Free the keys that were locked for jobs which were not made after all. */
export async function letGoUniqueKeys(execute: Execute, keys: readonly (UniqueName & { job_id: string })[]) {
  if (keys.length === 0) return;
  await execute({ text: letGo, params: [...nameParams(keys), uuidArray(keys.map((one) => one.job_id))] });
}

/** The jobs that hold keys; `locked` ones cannot be claimed or settled until the commit. Those pruned are missing. */
export async function findHolders(execute: Execute, ids: readonly string[], locked: boolean): Promise<JobRow[]> {
  if (ids.length === 0) return [];
  return [...(await execute<JobRow>({ text: locked ? findAndLock : find, params: [uuidArray(ids)] }))];
}

const nameParams = (names: readonly UniqueName[]) =>
  (["tenant", "queue", "key"] as const).map((column) => textArray(names.map((one) => one[column])));

/** A key that somebody's open transaction holds is an error (55P03) soon, and not the wait of everybody in the call. */
const impatient = "(SELECT set_config('lock_timeout', '300ms', true)) IS NOT NULL";

// DO UPDATE, and not NOTHING: it waits for the row and locks it, and tells what it says then.
const locking = (condition: string) => `
  INSERT INTO unique_keys AS held (tenant, queue, key, job_id, check_at)
  SELECT tenant, queue, key, id, now()
  FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) AS wanted(tenant, queue, key, id)
  WHERE ${condition} ORDER BY tenant COLLATE "C", queue COLLATE "C", key COLLATE "C"
  ON CONFLICT (tenant, queue, key) DO UPDATE SET job_id = held.job_id
  RETURNING tenant, queue, key, job_id, window_ends_at <= now() AS window_over`;
const lock = locking(impatient);
const lockPatiently = locking("true");

const give = `
  UPDATE unique_keys AS held SET job_id = taker.id, window_ends_at = now() + make_interval(secs => seconds),
         check_at = now() + make_interval(secs => coalesce(seconds, ${check_seconds}))
  FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::float8[]) AS taker(tenant, queue, key, id, seconds)
  WHERE (held.tenant, held.queue, held.key) = (taker.tenant, taker.queue, taker.key)`;

const letGo = `
  DELETE FROM unique_keys AS held
  USING unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) AS free(tenant, queue, key, id)
  WHERE (held.tenant, held.queue, held.key, held.job_id) = (free.tenant, free.queue, free.key, free.id)`;

// The ids come from the caller's own keys. In one order, as two calls may lock the same jobs.
const find = `SELECT * FROM jobs WHERE id = ANY($1::uuid[])`;
const findAndLock = `${find} ORDER BY id FOR UPDATE`;
