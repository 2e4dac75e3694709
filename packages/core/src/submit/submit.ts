import type { Deps } from "../deps.ts";
import { announce } from "../signal/announce.ts";
import type { Signal } from "../signal/signal.ts";
import { enqueue, type EnqueueOptions } from "./enqueue.ts";
import { readyAmong, type EnqueueOutcome, type Submission } from "./outcome.ts";

/**
 * Commit jobs with their idempotency keys, then signal those that are ready. Outcomes are in the order of the
 * submissions. A failed signal does not change the answer. Throws when the database is away (see `enqueue`).
 *
 * @example
 * const [outcome] = await submit({ database, signal, observe }, [{ tenant: "default", request }], { idempotency_ttl_seconds: 86_400 });
 */
export async function submit(
  deps: Deps & { signal: Signal },
  submissions: Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const outcomes = await enqueue(deps, submissions, options);
  await announce(deps, readyAmong(outcomes));
  return outcomes;
}
