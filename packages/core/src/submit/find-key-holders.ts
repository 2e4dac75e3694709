import { textArray, hidden } from "../database/literals.ts";
import { composed } from "../database/composed.ts";
import { replicated } from "../database/clauses.ts";
import type { Execute } from "../database/statement.ts";
import { knownColumns, type EnqueueOutcome, type KnownJob } from "./outcome.ts";
import type { Draft } from "./insert-jobs.ts";

export type KeyName = { tenant: string; key: string };
export type UniqueName = { tenant: string; queue: string; key: string };

/** What an idempotency key stands for. `job` is in the form the driver of `execute` returns. */
export type KeyedJob = KeyName & { request_hash: string; job: KnownJob };
/**
 * Which job has a unique key. Its `version` is that of its row. `window_over` is null when the job holds the key until it
 * is final.
 */
export type HeldKey = UniqueName & { version: string; window_over: boolean | null; job: KnownJob };

/** `spent` are idempotency keys that have expired or whose job is gone: they can be used again. */
export type KeyHolders = { keyed: KeyedJob[]; spent: KeyName[]; held: HeldKey[] };

/**
 * The jobs behind keys, in one statement that locks nothing: the answer may be outdated when it is read, so any
 * statement that acts on it states what was seen. What it found is on the synchronous standby, if any.
 *
 * @example
 * const { keyed, held } = await findKeyHolders(execute, [{ tenant, key: "order-17" }], []);
 */
export async function findKeyHolders(
  execute: Execute,
  keys: readonly KeyName[],
  unique: readonly UniqueName[],
): Promise<KeyHolders> {
  if (keys.length + unique.length === 0) return { keyed: [], spent: [], held: [] };
  const params = [
    textArray(keys.map((one) => one.tenant)),
    textArray(keys.map((one) => one.key)),
    ...(["tenant", "queue", "key"] as const).map((column) => textArray(unique.map((one) => one[column]))),
  ];
  const found: KeyHolders = { keyed: [], spent: [], held: [] };
  for (const row of await execute<Row>({ text, params })) {
    const {
      of_tenant,
      of_queue,
      of_key,
      request_hash,
      spent,
      window_over,
      version,
      replicated: _replicated,
      ...job
    } = row;
    const name = { tenant: of_tenant, key: of_key };
    if (of_queue !== null) found.held.push({ ...name, queue: of_queue, version, window_over, job });
    else if (spent) found.spent.push(name);
    else found.keyed.push({ ...name, request_hash: request_hash ?? "", job });
  }
  return found;
}

type Row = KnownJob & {
  of_tenant: string;
  of_queue: string | null;
  of_key: string;
  request_hash: string | null;
  spent: boolean;
  window_over: boolean | null;
  version: string;
  replicated: boolean;
};

const text = composed(
  "submit/find-key-holders",
  ["key_tenants", "keys", "unique_tenants", "unique_queues", "unique_keys"],
  `
  SELECT keys.tenant AS of_tenant, NULL AS of_queue, keys.key AS of_key, encode(keys.request_hash, 'hex') AS request_hash,
         (keys.expires_at <= now() OR jobs.id IS NULL) AS spent, NULL::boolean AS window_over, NULL AS version,
         ${replicated}, ${knownColumns}
  FROM (SELECT DISTINCT * FROM unnest(${hidden("$1::text[]")}, ${hidden("$2::text[]")}) AS wanted(tenant, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT * FROM atlasqueue.idempotency_keys AS one WHERE one.tenant = wanted.tenant AND one.key = wanted.key OFFSET 0) AS keys
  LEFT JOIN atlasqueue.jobs ON jobs.id = keys.job_id
  UNION ALL
  SELECT jobs.tenant, jobs.queue, jobs.unique_key, NULL, false, jobs.unique_until <= now(), jobs.version, ${replicated}, ${knownColumns}
  FROM (SELECT DISTINCT * FROM unnest(${hidden("$3::text[]")}, ${hidden("$4::text[]")}, ${hidden("$5::text[]")}) AS wanted(tenant, queue, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT *, xmin::text AS version FROM atlasqueue.jobs AS one
    WHERE one.tenant = wanted.tenant AND one.queue = wanted.queue AND one.unique_key = wanted.key OFFSET 0) AS jobs`,
);

/** A statement sees each key once: the first of those that share one. */
export function oncePerKey(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((one) => {
    if (one.key === null) return true;
    const key = keyName(one);
    return !seen.has(key) && seen.add(key);
  });
}

export const hasKey = (one: Draft): one is Draft & { key: string } => one.key !== null;
/** What is the same for those with the same key. */
export const keyName = ({ tenant, key }: { tenant: string; key: string | null }): string => `${tenant} ${key}`;

/** What drafts with known keys get: the key's job, or a mismatch. */
export function settleConflicts(
  drafts: readonly Draft[],
  found: readonly KeyedJob[],
  outcomes: Map<Draft, EnqueueOutcome>,
): void {
  if (found.length === 0) return;
  const byKey = new Map(found.map((row) => [keyName(row), row]));
  for (const one of drafts) {
    const row = one.key === null ? undefined : byKey.get(keyName(one));
    if (row) outcomes.set(one, answerOf(row.request_hash === one.hash, row.job));
  }
}

/** Gives drafts that share a key with an earlier draft of the call its job. If that was refused, the key is free. */
export function resolveDuplicates(drafts: readonly Draft[], outcomes: Map<Draft, EnqueueOutcome>): void {
  const firsts = new Map<string, Draft>();
  for (const one of drafts) {
    if (one.key === null) continue;
    const key = keyName(one);
    const first = firsts.get(key) ?? one;
    const outcome = outcomes.get(first);
    if (outcome?.kind === "conflict") firsts.delete(key);
    else firsts.set(key, first);
    if (first !== one && !outcomes.has(one) && outcome && "job" in outcome)
      outcomes.set(one, answerOf(first.hash === one.hash, outcome.job));
  }
}

/** Drafts that share a key with an earlier one in the same call but ask for something else. */
export function mismatchedDuplicates(drafts: readonly Draft[]): Draft[] {
  const hashes = new Map<string, string>();
  return drafts.filter((one) => {
    if (one.key === null) return false;
    const key = keyName(one);
    hashes.set(key, hashes.get(key) ?? one.hash);
    return hashes.get(key) !== one.hash;
  });
}

const answerOf = (same: boolean, job: KnownJob): EnqueueOutcome =>
  same ? { kind: "replayed", job } : { kind: "mismatch" };

/**
 * Remove idempotency keys that have expired or whose job is gone, so that they can be used again. Waits for no one: a
 * key another process is removing or pruning at the moment is skipped.
 */
export async function forgetSpentKeys(execute: Execute, keys: readonly KeyName[]): Promise<void> {
  if (keys.length === 0) return;
  const params = [textArray(keys.map(({ tenant }) => tenant)), textArray(keys.map(({ key }) => key))];
  await execute({ text: forgetText, params });
}

const forgetText = composed(
  "submit/forget-spent-keys",
  ["tenants", "keys"],
  `
  DELETE FROM atlasqueue.idempotency_keys WHERE (tenant, key) IN (
    SELECT keys.tenant, keys.key FROM unnest($1::text[], $2::text[]) AS spent(tenant, key)
    JOIN atlasqueue.idempotency_keys AS keys USING (tenant, key)
    WHERE keys.expires_at <= now() OR NOT EXISTS (SELECT FROM atlasqueue.jobs WHERE jobs.id = keys.job_id)
    FOR UPDATE OF keys SKIP LOCKED)`,
);
