import type { Job } from "@atlasqueue/contract";

/** What a remote worker reports. `api_unavailable` is reported at each failed try, and the worker keeps trying. */
export type WorkEvent =
  | { event: "handler_start"; job: Job }
  | { event: "job_type_unknown"; job: Job }
  | { event: "job_settled"; job: Job; outcome: "succeeded" | "failed" | "dead" | "released"; error?: string }
  | { event: "job_parked"; job: Job; waits_for: string; until: string }
  | { event: "lease_lost"; job: Job; during: "starting" | "handling" | "settling" }
  | { event: "settlement_refused"; job: Job; error: unknown }
  | { event: "progress_refused"; job: Job; error: unknown }
  | { event: "api_unavailable"; during: "lease" | "heartbeat" | "steps" | "parents" | "settle"; error: unknown };
export type Observe = (event: WorkEvent) => void;

/** An observer that throws is no reason to lose a job. */
export function careful(observe: Observe): Observe {
  return (event) => {
    try {
      observe(event);
    } catch {
      // Its own problem.
    }
  };
}

/** Without an observer, trouble goes to the console: a worker whose token has expired must not stay silent. */
export function warnOfTrouble(event: WorkEvent): void {
  if (!("error" in event) || event.event === "job_settled") return;
  const about = event.event === "api_unavailable" ? `during ${event.during}` : `job ${event.job.id}`;
  // oxlint-disable-next-line eslint/no-console -- the one place where this package prints, unless `observe` is set.
  console.warn(`atlasqueue ${event.event}, ${about}: ${String(event.error)}`);
}
