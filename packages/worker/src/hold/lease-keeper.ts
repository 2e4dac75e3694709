import { DatabaseTimeoutError, isUnavailable } from "@atlasqueue/core";
import { pause } from "@atlasqueue/core/internal";
import { aboutLease, extendLeases, forgetClaims, type Lease } from "@atlasqueue/core/internal/worker";
import type { Extender } from "@atlasqueue/runtime";
import { leaseLost, type RunningJob, type RunningJobs } from "../consume/running-jobs.ts";
import type { WorkerDeps } from "../deps.ts";

const extend_max = 1_000;
const retry_ms = 250;
const forget_ms = 1_000;
const forget_batches_max = 10_000;

/** When the lease of a job that was leased at `asked_at` ends, and is due: three times per lease, together with all others. */
export function dueOf(lease_seconds: number, asked_at = performance.now()) {
  const period_ms = (lease_seconds * 1_000) / 3;
  const periods = Math.floor(performance.now() / period_ms) + 1;
  return { ends_at_ms: asked_at + lease_seconds * 1_000, renew_at_ms: periods * period_ms };
}

/**
 * Renews leases in one statement. A job whose lease is lost is taken from its handler: another worker may have it already. A
 * database outage loses no lease: no one else could claim the job meanwhile, so the handler goes on.
 */
export function leaseExtender(deps: WorkerDeps, running: RunningJobs, lease_seconds: number): Extender<RunningJob> {
  const lose = (job: RunningJob): void => {
    // An outcome on its way may have arrived: its settlement shows whether the lease held.
    if (job.phase !== "handling") return;
    const during = job.began_at_ms === undefined ? "start" : "renewal";
    deps.observe({ event: "lease_lost", during, ...aboutLease(job.lease) });
    running.abandon(job, leaseLost());
  };
  const isDue = (job: RunningJob, at_ms: number): void => {
    // It may have become due meanwhile.
    job.renew_at_ms = Math.min(job.renew_at_ms, at_ms);
  };
  const extend = async (all: readonly RunningJob[]): Promise<void> => {
    const jobs = all.filter(running.holds);
    const asked_at = performance.now();
    try {
      const { lost, locked } = await send(
        deps,
        jobs.map(({ lease }) => lease),
        lease_seconds,
      );
      const [isLost, isLocked] = [new Set(lost), new Set(locked)];
      const { ends_at_ms, renew_at_ms } = dueOf(lease_seconds, asked_at);
      for (const job of jobs) {
        if (isLost.has(job.lease)) lose(job);
        if (isLocked.has(job.lease)) isDue(job, asked_at + retry_ms);
        else {
          isDue(job, renew_at_ms);
          job.ends_at_ms = ends_at_ms;
          job.renewals += 1;
        }
      }
    } catch (error) {
      if (!isUnavailable(error)) deps.logger.error({ err: error }, "lease_renewal_failed");
      else deps.observe({ event: "database_unavailable", during: "lease renewal", error: String(error) });
      for (const job of jobs) isDue(job, performance.now() + retry_ms);
    }
  };
  return { extend, extend_max };
}

/**
 * Has jobs renewed at once: one that is said to be cancelled, as the renewal finds out whether its lease is lost; and all when
 * a connection breaks, as a server that crashed may have forgotten the last renewals, or a claim. Returns a function that
 * ends this.
 */
export function renewAtOnce({ database, signal }: WorkerDeps, running: RunningJobs, wake: () => void): () => void {
  const renew = (which: (job: RunningJob) => boolean): void => {
    // One that is being renewed is renewed once more.
    for (const job of running.all().filter(which))
      job.renew_at_ms = job.renew_at_ms === Infinity ? performance.now() + retry_ms : 0;
    wake();
  };
  const hearNoBreaks = database.onBreak(() => renew(() => true));
  const hearNoCancels = signal.notices.listen("cancelled", (ids) => {
    const due = new Set(ids);
    renew(({ lease }) => due.has(lease.id));
  });
  return () => {
    hearNoBreaks();
    hearNoCancels();
  };
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
async function send({ database }: WorkerDeps, leases: readonly Lease[], lease_seconds: number) {
  const extend = (sql = database.sql) => extendLeases({ database: { ...database, sql } }, leases, lease_seconds);
  const { busy, max } = database.connections();
  if (busy < max) return extend();
  return extend(database.spare).catch((error: unknown) => {
    if (!isUnavailable(error) || error instanceof DatabaseTimeoutError) throw error;
    return extend();
  });
}
