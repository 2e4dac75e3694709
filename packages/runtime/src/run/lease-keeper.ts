import { pause } from "../waiting/pause.ts";
import type { Held, HeldJobs } from "./held-jobs.ts";

export type Extender<Job> = {
  /**
   * Renews these leases, which are due together: sets when each ends and when it is due again, and leaves the lost ones.
   * Must not reject.
   */
  extend(jobs: readonly Job[]): Promise<void>;
  /** Jobs in one call at most. */
  extend_max: number;
};

/**
 * Renews the leases of the jobs that a worker holds, each when it is due. Call `wake` when one is due earlier than it was.
 */
export function keepLeases<Job extends Held>(
  held: Pick<HeldJobs<Job>, "all" | "tell">,
  { extend, extend_max }: Extender<Job>,
  { lease_ms, stop }: { lease_ms: number; stop: AbortSignal },
) {
  /** A job that was leased meanwhile is not due so soon. */
  const rest_ms_max = lease_ms / 12;
  let woken = new AbortController();
  const wake = (): void => woken.abort();
  const renew = async (jobs: readonly Job[]): Promise<void> => {
    for (const job of jobs) job.renew_at_ms = Infinity;
    await extend(jobs);
    held.tell();
    wake();
  };

  const keep = async (): Promise<void> => {
    while (!stop.aborted) {
      woken = new AbortController();
      const now = performance.now();
      const all = held.all();
      const due = all.filter(({ renew_at_ms }) => renew_at_ms <= now);
      for (let at = 0; at < due.length; at += extend_max) void renew(due.slice(at, at + extend_max));
      const next_ms = all.reduce((first, { renew_at_ms }) => Math.min(first, renew_at_ms), now + rest_ms_max);
      await pause(next_ms - now, woken.signal);
    }
  };
  stop.addEventListener("abort", wake, { once: true });
  return { wake, kept: keep() };
}
