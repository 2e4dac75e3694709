import type { JobSteps, Json, ParkAnswer, SendSignalAnswer } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";
import { segment, type ActOptions, type CallOptions, type Send } from "../http/transport.ts";
import type { Held } from "./leases.ts";

/** Besides what is listed here, a call may reject like any other: AuthError, NotFoundError, TooLargeError, … */
export type StepCalls = {
  /**
   * Send a signal to a job that waits for it, or will. Resolves with what became of it: of a name the first counts
   * (`sent_before`), and one whose time is over does not (`too_late`). Rejects with JobFinishedError.
   */
  signal(id: string, name: string, payload?: Json, call?: ActOptions): Promise<SendSignalAnswer["outcome"]>;
  /** What a job's handler has done, the signals it was sent, and what it waits for or did. */
  steps(id: string, call?: CallOptions): Promise<JobSteps>;
  /** Keep a step's result with the job; resolves with what is kept, the first result. LeaseLostError. */
  storeStep(held: Held, name: string, result: Json, call?: CallOptions): Promise<Json>;
  /** Let a job wait for a signal, unless it is there: see `POST /v1/jobs/{id}/park`. LeaseLostError. */
  park(held: Held, signal: string, timeoutSeconds: number, call?: CallOptions): Promise<ParkAnswer>;
};

export function stepCalls(send: Send): StepCalls {
  const path = (id: string, rest: string) => `/v1/jobs/${segment(id)}/${rest}`;
  return {
    async signal(id, name, payload, call) {
      const body = JSON.stringify({ payload });
      // Under a key, the answer to a second try is that of the first, whose own was lost.
      const options = { idempotencyKey: randomKey(), ...call };
      const request = { method: "POST", path: path(id, `signals/${segment(name)}`), body, repeat: "always" } as const;
      return ((await send(request, options)).body as SendSignalAnswer).outcome;
    },
    async steps(id, call) {
      return (await send({ method: "GET", path: path(id, "steps"), repeat: "always" }, call)).body as JobSteps;
    },
    async storeStep({ job, lease_token }, name, result, call) {
      const body = JSON.stringify({ lease_token, result });
      const request = { method: "PUT", path: path(job.id, `steps/${segment(name)}`), body, repeat: "always" } as const;
      return ((await send(request, call)).body as { result: Json }).result;
    },
    async park({ job, lease_token }, signal, timeout_seconds, call) {
      const body = JSON.stringify({ lease_token, signal, timeout_seconds });
      return (await send({ method: "POST", path: path(job.id, "park"), body, repeat: "always" }, call))
        .body as ParkAnswer;
    },
  };
}
