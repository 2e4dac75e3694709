import { forTenant } from "../database/pool/fair-share.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { findKeyHolders } from "../submit/find-key-holders.ts";
import { jobStatuses } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";

export type StorageQuota = {
  /**
   * Whether a tenant may store a request of this size. Rejects with `StorageFullError`, or as the database does at the
   * first request of a tenant. A request whose keys are all in use stores nothing, and is let through.
   */
  admit(tenant: string, request: { bytes: number; jobs: number; keys: readonly string[] }): Promise<void>;
};

/** The tenant stores about as much as it may. */
export class StorageFullError extends Error {
  override readonly name = "StorageFullError";
  constructor(stored: number, bytes: number, bytes_max: number) {
    super(
      `The jobs of the tenant take about ${Math.round(stored)} bytes and may take ${bytes_max}; this request has ` +
        `${bytes}. Finished jobs make room when their retention ends, dead letters when they are purged`,
    );
  }
}

export type StorageQuotaOptions = {
  /** 0 is no quota. */
  stored_bytes_per_tenant_max: number;
  /** How old a look may be. Default 10,000. */
  look_ms?: number;
};

/** Tenants one process remembers; the first one met makes room. */
const tenants_max = 10_000;
/** In one look. */
const looked_at_max = 1_000;

/** A number of a tenant's jobs, and the bytes they take up. */
type Sizes = { jobs: number; bytes: number };
const nothing: Sizes = { jobs: 0, bytes: 0 };

type Account = {
  /** Its jobs as of the last look; undefined before the first. */
  known: Sizes | undefined;
  /** As of the last look: in steps and signals. */
  kept_bytes: number;
  looked_at: number;
  /** Let in here since that look began. */
  since: Sizes;
  /** A look has failed since: what was let in may not have been stored, and says nothing of the jobs that are. */
  failed: boolean;
};

const newAccount = (): Account => ({ known: undefined, kept_bytes: 0, looked_at: 0, since: nothing, failed: false });

/** How much of a difference one sample of a large table makes: it finds what lies side by side all at once or not at all. */
const sample_weight = 0.1;

/**
 * What a tenant's jobs take up: their number, times the mean of what was known and what was let in since, brought nearer
 * to the mean size of those that the look came upon. If it came upon all of them, that alone counts.
 */
function reckon(known: Sizes | undefined, found: Stored, let_in: Sizes): Sizes {
  const jobs = Math.max(0, found.jobs);
  const before = plus(known ?? nothing, let_in);
  const left = (before.bytes * jobs) / Math.max(1, before.jobs);
  if (found.mean_bytes === null) return { jobs, bytes: left };
  const weight = known && found.sampled < jobs ? sample_weight : 1;
  return { jobs, bytes: left + weight * (jobs * found.mean_bytes - left) };
}

const plus = (one: Sizes, other: Sizes): Sizes => ({ jobs: one.jobs + other.jobs, bytes: one.bytes + other.bytes });

/**
 * Bounds how much each tenant's jobs take up in the database: their exact number, times the mean size in samples of
 * the table, with their steps and signals, sampled as well, plus what this process has let in since. One
 * statement looks at all tenants that submit, every ten seconds, and no request waits for it but a tenant's first, and
 * one that would be refused. So it is not exact (see decisions/2026-11-21-storage-quota.md): it keeps one tenant from
 * filling the disk.
 *
 * @example
 * const quota = createStorageQuota({ database }, { stored_bytes_per_tenant_max: 10_000_000_000 });
 * await quota.admit("default", { bytes: 2_000, jobs: 1, keys: ["order-17"] });
 */
export function createStorageQuota(
  deps: Pick<Deps, "database">,
  { stored_bytes_per_tenant_max: bytes_max, look_ms = 10_000 }: StorageQuotaOptions,
): StorageQuota {
  const accounts = new Map<string, Account>();
  const asked = new Set<string>();
  let looking: Promise<void> | undefined;

  const accountOf = (tenant: string): Account => {
    const known = accounts.get(tenant);
    if (known) return known;
    const account = newAccount();
    accounts.set(tenant, account);
    if (accounts.size > tenants_max) accounts.delete(accounts.keys().next().value ?? "");
    return account;
  };

  const lookOnce = async (): Promise<void> => {
    const tenants = [...asked].slice(0, looked_at_max);
    const begun = new Map(tenants.map((tenant) => [tenant, { ...accountOf(tenant) }]));
    for (const tenant of tenants) asked.delete(tenant);
    const looked = await lookAtStored(deps, tenants).catch((error: unknown) => {
      for (const tenant of tenants) accountOf(tenant).failed = true;
      throw error;
    });
    for (const found of looked) {
      const { known, since: let_in, failed } = begun.get(found.tenant) ?? newAccount();
      const account = accountOf(found.tenant);
      account.known = reckon(known, found, failed ? nothing : let_in);
      account.kept_bytes = found.kept_bytes;
      // What was let in before the look began is in it, or was not stored.
      account.since = plus(account.since, { jobs: -let_in.jobs, bytes: -let_in.bytes });
      account.looked_at = performance.now();
      account.failed = false;
    }
  };
  /** One look at a time, for all that have asked. */
  const look = async (tenant: string): Promise<void> => {
    asked.add(tenant);
    // A look under way has not asked for it.
    while (asked.has(tenant)) await (looking ??= lookOnce().finally(() => (looking = undefined)));
  };

  return {
    async admit(tenant, { bytes, jobs, keys }) {
      if (bytes_max === 0) return;
      const account = accountOf(tenant);
      if (!account.known) await look(tenant);
      else if (performance.now() - account.looked_at > look_ms) {
        // When it fails the last one stands, and the next request asks again. It is not waited for, unless the request
        // would be refused: what was let in during an outage of the database was not stored.
        const looked = look(tenant);
        if (storedOf(account) + bytes > bytes_max) await looked;
        else looked.catch(() => {});
      }
      const stored = storedOf(account);
      if (stored + bytes > bytes_max) {
        const own = { database: forTenant(deps.database, { tenant }) };
        const names = [...new Set(keys)].map((key) => ({ tenant, key }));
        const { keyed } = await findKeyHolders(executeOn(own.database), keys.length === jobs ? names : [], []);
        if (keyed.length > 0 && keyed.length === names.length) return;
        throw new StorageFullError(stored, bytes, bytes_max);
      }
      account.since = plus(account.since, { jobs, bytes });
    },
  };
}

const storedOf = ({ known, kept_bytes, since }: Account): number => (known?.bytes ?? 0) + kept_bytes + since.bytes;

/**
 * `jobs` is exact. `mean_bytes` is of `sampled` jobs, null when none of the tenant's was among them. `kept_bytes` are in
 * the steps and signals of all of its jobs.
 */
type Stored = { tenant: string; jobs: number; sampled: number; mean_bytes: number | null; kept_bytes: number };

/** Pages of the jobs' table in one sample: a table of no more is read whole, of a larger one a few milliseconds' worth. */
const pages_max = 300;
/** The same of steps and signals, which have many more rows in a page. */
const kept_pages_max = 100;
/** Of a job's row and its entries in indexes, besides what the tenant sent. */
const row_bytes = 300;
/** The same of a step or a signal. */
const kept_row_bytes = 150;

/** How much these tenants store: their jobs as the moves count them, and the mean of a sample taken for all of them. */
async function lookAtStored(deps: Pick<Deps, "database">, tenants: readonly string[]): Promise<Stored[]> {
  return [...(await executeOn(deps.database)<Stored>({ text: look, params: [textArray(tenants)] }))];
}

const columns = jobStatuses.join(", ");
const all = jobStatuses.join(" + ");

const percentOf = (table: string, pages: number) =>
  `least(100, 100.0 * ${pages} * current_setting('block_size')::int / greatest(1, pg_relation_size('atlasqueue.${table}')))`;
const kept_percent = percentOf("job_state", kept_pages_max);

// Sizes of large values come from the pointers to them, so none is read.
const look = composed(
  "quota/look",
  ["tenants"],
  `
  WITH sample AS MATERIALIZED (
    SELECT tenant, count(*) AS sampled,
           avg(${row_bytes} + pg_column_size(payload) + coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(last_error), 0)) AS mean
    FROM atlasqueue.jobs TABLESAMPLE SYSTEM ((SELECT ${percentOf("jobs", pages_max)}))
    GROUP BY tenant
  ), kept AS MATERIALIZED (
    SELECT tenant, sum(${kept_row_bytes} + pg_column_size(value)) * 100 / (SELECT ${kept_percent}) AS bytes
    FROM atlasqueue.job_state TABLESAMPLE SYSTEM ((SELECT ${kept_percent})) WHERE kind <> 'wait' GROUP BY tenant
  ), known AS (
    SELECT tenant, sum(${all}) AS jobs FROM (
      SELECT tenant, ${columns} FROM atlasqueue.queue_counts WHERE tenant = ANY($1::text[]) UNION ALL SELECT tenant, ${columns} FROM atlasqueue.queue_changes WHERE tenant = ANY($1::text[])) AS known
    GROUP BY tenant
  )
  SELECT asked.tenant, coalesce(known.jobs, 0)::float8 AS jobs, coalesce(sampled, 0)::int AS sampled, mean::float8 AS mean_bytes,
         coalesce(kept.bytes, 0)::float8 AS kept_bytes
  FROM unnest($1::text[]) AS asked(tenant) LEFT JOIN known USING (tenant) LEFT JOIN sample USING (tenant) LEFT JOIN kept USING (tenant)`,
);
