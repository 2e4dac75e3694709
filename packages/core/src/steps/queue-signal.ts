import { stepName, storableResult, type Json, type SendSignalAnswer } from "@atlasqueue/contract";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { sendSignal } from "./signal.ts";

/**
 * What became of a signal. `sent_before`: the first of its name counts. `too_late`: the job has stopped waiting for it.
 * `finished`, `unknown`: there is no such job that could wait. `full`: the job was sent as many as it may be. All but
 * `sent` changed nothing.
 */
export type SignalSent = SendSignalAnswer["outcome"] | "finished" | "unknown" | "full";

/** A signal's payload as it is stored. Throws a TypeError for a name or a payload that cannot be. */
export function ownSignal(name: string, payload: Json | undefined): Json {
  if (!stepName.safeParse(name).success) throw new TypeError(`the name of a signal must be ${stepName.description}`);
  const checked = storableResult(payload);
  if (checked.kind === "refused")
    throw new TypeError("the payload of a signal must be JSON", { cause: checked.reason });
  return checked.result;
}

export const queueSignal =
  (deps: Deps, followUps: { woken(job: ReadyJob): Promise<void> }, tenant: string) =>
  async (id: string, name: string, payload?: Json): Promise<SignalSent> => {
    const outcome = await sendSignal(deps, tenant, id, name, ownSignal(name, payload));
    if (outcome.kind === "sent" && outcome.woken) await followUps.woken(outcome.job);
    return outcome.kind;
  };
