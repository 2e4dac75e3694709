import { DatabaseTimeoutError, isUnavailable } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { aboutLease, extendLeases, forgetClaims, type Lease } from "@atlasqueue/core/internal/worker";
import type { RunningJob, RunningJobs } from "../consume/running-jobs.ts";
import type { WorkerDeps } from "../deps.ts";

const batch_max = 1_000;
const retry_ms = 250;
const forget_ms = 1_000;
const forget_batches_max = 10_000;

/**
 * Renews the leases of all jobs a worker holds in one statement, three times per lease. A job whose lease is lost is
 * taken from its handler: another worker may have it already. A database outage loses no lease: no one else could claim
 * the job meanwhile, so the handler goes on.
 *
 * When a connection breaks it renews at once: a server that crashed may have forgotten the last renewals, or a claim.
 */
export async function keepLeases(
  deps: WorkerDeps,
  running: RunningJobs,
  lease_seconds: number,
  stop: AbortSignal,
): Promise<void> {
  const period_ms = (lease_seconds * 1_000) / 3;
  const soon_ms = Math.min(retry_ms, period_ms);
  let breaks = 0;
  let wake = new AbortController();
  const hearNoMore = deps.database.onBreak(() => {
    breaks += 1;
    wake.abort();
  });
  while (!stop.aborted) {
    wake = new AbortController();
    const known = breaks;
    const renewed = await renew(deps, running, running.all(), lease_seconds);
    const unbroken = breaks === known;
    if (renewed && unbroken) await pause(period_ms, AbortSignal.any([stop, wake.signal]));
    else await pause(soon_ms, stop);
  }
  hearNoMore();
}

/**
 * Checks a job as soon as it is said to be cancelled, instead of at the next renewal. The notice is a hint: the renewal
 * finds out whether the lease is lost. Returns a function that stops listening.
 */
export function heedCancels(deps: WorkerDeps, running: RunningJobs, lease_seconds: number): () => void {
  return deps.signal.notices.listen("cancelled", (ids) => {
    const told = new Set(ids);
    const held = running.all().filter((job) => told.has(job.lease.id));
    if (held.length > 0) void renew(deps, running, held, lease_seconds);
  });
}

/** Clears away the claims settled to the last job, a second's worth in one statement. */
export async function forgetSettled(deps: WorkerDeps, running: RunningJobs, stop: AbortSignal): Promise<void> {
  do {
    await pause(forget_ms, stop);
    try {
      await forgetClaims(deps, running.takeSettledClaims(forget_batches_max));
    } catch (error) {
      // The sweep will clear them when their leases would have ended.
      if (!isUnavailable(error)) deps.logger.error({ err: error }, "forget_claims_failed");
    }
  } while (!stop.aborted);
}

/**
 * While all connections are taken, perhaps by what waits for a lock, renewals have one more; and where the server has none
 * left for it, they wait with the others.
 */
async function extend({ database }: WorkerDeps, leases: readonly Lease[], lease_seconds: number) {
  const send = (sql = database.sql) => extendLeases({ database: { ...database, sql } }, leases, lease_seconds);
  const { busy, max } = database.connections();
  if (busy < max) return send();
  return send(database.spare).catch((error: unknown) => {
    if (!isUnavailable(error) || error instanceof DatabaseTimeoutError) throw error;
    return send();
  });
}

/** Renew what is held now. False when the database is away, or a transaction has a job's row locked: repeat it soon. */
async function renew(
  deps: WorkerDeps,
  running: RunningJobs,
  held: readonly RunningJob[],
  lease_seconds: number,
): Promise<boolean> {
  let all = true;
  try {
    for (let at = 0; at < held.length; at += batch_max) {
      const batch = held.slice(at, at + batch_max).filter((job) => running.holds(job));
      const byLease = new Map<Lease, RunningJob>(batch.map((job) => [job.lease, job]));
      const leases = batch.map((job) => job.lease);
      const { lost, locked } = await extend(deps, leases, lease_seconds);
      all &&= locked.length === 0;
      for (const lease of lost) {
        const job = byLease.get(lease);
        // An outcome on its way may have arrived: its settlement shows whether the lease held.
        if (!job || job.phase !== "handling" || !running.holds(job)) continue;
        deps.observe({ event: "lease_lost", during: "renewal", ...aboutLease(lease) });
        running.abandon(job, "the lease was lost");
      }
    }
    return all;
  } catch (error) {
    if (!isUnavailable(error)) deps.logger.error({ err: error }, "lease_renewal_failed");
    else deps.observe({ event: "database_unavailable", during: "lease renewal", error: String(error) });
    return false;
  }
}
