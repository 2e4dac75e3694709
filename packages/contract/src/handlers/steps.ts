import { showValue, type Json } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";
import { isStepName, stepNameAccepts } from "../checks/step-name.ts";
import { storableResult } from "./storable.ts";

/** What came of waiting for a signal. */
export type SignalWait = { timed_out: false; payload: Json } | { timed_out: true };

export type Steps = {
  /**
   * Do a part of the job once: what `run` returns is stored, and when the job runs again it is returned without running
   * it. Each step of a job needs its own name. The result is what JSON keeps of it, at most 256 KiB. If the process dies
   * within `run`, it runs again: give what it calls a key, such as the job's id with the step's name.
   */
  step<T>(name: string, run: () => T): Promise<Awaited<T>>;
  /**
   * The payload of a signal that is sent to this job. If it is not there yet the job is parked: this attempt ends here by
   * an error, which needs no catching, and does not count. The handler is called again when the signal comes or the
   * time, counted from the first wait, is over. Put what should not be done again into steps.
   */
  waitFor(signal: string, options: { timeoutSeconds: number }): Promise<SignalWait>;
};

/** Where the steps of one attempt are kept. Each rejects when the job is no longer held. */
export type StepStore = {
  /** The results that earlier attempts stored, by their names. */
  load(): Promise<ReadonlyMap<string, Json>>;
  /** Resolves with what is stored under the name: the first result. */
  store(name: string, result: Json): Promise<Json>;
  park(signal: string, timeout_seconds: number): Promise<SignalWait | "parked">;
};

/** A step or a wait that cannot be done: its name, its result, its time. */
export class StepError extends Error {
  override readonly name = "StepError";
}

/** Ends a handler whose job is parked. The job is not held any more, so what becomes of this error does not matter. */
export class ParkedError extends Error {
  override readonly name = "ParkedError";
  constructor(signal: string) {
    super(`the job waits for the signal ${showValue(signal)}; this attempt ends here, and does not count`);
  }
}

/**
 * The steps of one attempt. What earlier attempts did is read when the first step is asked for.
 *
 * @example
 * const { step, waitFor } = createSteps(store);
 */
export function createSteps(store: StepStore): Steps {
  let loading: Promise<ReadonlyMap<string, Json>> | undefined;
  /** Of this attempt: under way or done. */
  const begun = new Set<string>();

  const load = () =>
    (loading ??= store.load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));

  return {
    async step<T>(name: string, run: () => T): Promise<Awaited<T>> {
      requireName("a step", name);
      if (begun.has(name))
        throw new StepError(`this attempt has begun the step ${showValue(name)} already; each needs a name of its own`);
      begun.add(name);
      try {
        const known = await load();
        if (known.has(name)) return known.get(name) as Awaited<T>;
        const checked = storableResult(await run());
        if (checked.kind === "refused")
          throw new StepError(`the step ${showValue(name)} cannot be stored: ${messageOf(checked.reason)}`);
        return (await store.store(name, checked.result)) as Awaited<T>;
      } catch (error) {
        // A handler may catch it and try again.
        begun.delete(name);
        throw error;
      }
    },
    async waitFor(signal, { timeoutSeconds }) {
      requireName("a signal", signal);
      const { signal_wait_seconds_min: min, signal_wait_seconds_max: max } = limits;
      if (!(timeoutSeconds >= min && timeoutSeconds <= max))
        throw new StepError(`timeoutSeconds must be a number from ${min} to ${max}; got ${showValue(timeoutSeconds)}`);
      const outcome = await store.park(signal, timeoutSeconds);
      if (outcome === "parked") throw new ParkedError(signal);
      return outcome;
    },
  };
}

function requireName(what: string, name: unknown): void {
  if (isStepName(name)) return;
  throw new StepError(`the name of ${what} must be ${stepNameAccepts}; got ${showValue(name)}`);
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
