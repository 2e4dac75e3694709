import type { JobSteps, Json, ParkAnswer, SendSignalAnswer } from "@atlasqueue/contract";
import { randomKey } from "../idempotency-key.ts";
import type { Ask } from "../http/ask.ts";
import type { ActOptions, CallOptions } from "../http/transport.ts";
import type { Held } from "./leases.ts";

/** Besides what is listed here, a call may reject like any other: AuthError, NotFoundError, TooLargeError, … */
export type StepCalls = ReturnType<typeof stepCalls>;

export const stepCalls = (ask: Ask) => ({
  /**
   * Send a signal to a job that waits for it, or will. Resolves with what became of it: of a name the first counts
   * (`sent_before`), and one whose time is over does not (`too_late`). Rejects with JobFinishedError.
   */
  async signal(id: string, name: string, payload?: Json, call?: ActOptions) {
    // Under a key, the answer to a second try is that of the first, whose own was lost.
    const options = { idempotencyKey: randomKey(), ...call };
    const at = ["jobs", id, "signals", name];
    return (await ask<SendSignalAnswer>("POST", at, options, { body: { payload } })).outcome;
  },
  /** What a job's handler has done, the signals it was sent, and what it waits for or did. */
  steps: (id: string, call?: CallOptions): Promise<JobSteps> => ask("GET", ["jobs", id, "steps"], call),
  /** Keep a step's result with the job; resolves with what is kept, the first result. LeaseLostError. */
  async storeStep({ job, lease_token }: Held, name: string, result: Json, call?: CallOptions): Promise<Json> {
    const body = { lease_token, result };
    return (await ask<{ result: Json }>("PUT", ["jobs", job.id, "steps", name], call, { body })).result;
  },
  /** Let a job wait for a signal, unless it is there: see `POST /v1/jobs/{id}/park`. LeaseLostError. */
  park({ job, lease_token }: Held, signal: string, timeoutSeconds: number, call?: CallOptions): Promise<ParkAnswer> {
    const body = { lease_token, signal, timeout_seconds: timeoutSeconds };
    return ask("POST", ["jobs", job.id, "park"], call, { body });
  },
});
