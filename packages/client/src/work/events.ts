import type { Job } from "@atlasqueue/contract";

/** What a remote worker tells. `api_unavailable` is told at each failed try, and the worker goes on trying. */
export type WorkEvent =
  | { event: "handler_start"; job: Job }
  | { event: "job_settled"; job: Job; outcome: "succeeded" | "failed" | "dead"; error?: string }
  | { event: "lease_lost"; job: Job; during: "handling" | "settling" }
  | { event: "settlement_refused"; job: Job; error: unknown }
  | { event: "progress_refused"; job: Job; error: unknown }
  | { event: "api_unavailable"; during: "lease" | "heartbeat" | "settle"; error: unknown };
export type Observe = (event: WorkEvent) => void;

/** An observer that throws is no reason to lose a job. */
export function careful(observe: Observe): Observe {
  return (event) => {
    try {
      observe(event);
    } catch {
      // Its own trouble.
    }
  };
}

/** Without an observer, trouble is said: a worker whose token has expired must not be silent about it. */
export function warnOfTrouble(event: WorkEvent): void {
  if (!("error" in event) || event.event === "job_settled") return;
  const about = event.event === "api_unavailable" ? `during ${event.during}` : `job ${event.job.id}`;
  // oxlint-disable-next-line eslint/no-console -- the one place where this package speaks, unless it is told not to.
  console.warn(`atlasqueue ${event.event}, ${about}: ${String(event.error)}`);
}
