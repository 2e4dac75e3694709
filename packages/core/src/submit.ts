import type { Deps } from "./deps.ts";
import { announce } from "./signal/announce.ts";
import type { Signal } from "./signal/signal.ts";
import { enqueue, type EnqueueOptions, type EnqueueOutcome, type Submission } from "./transitions/enqueue.ts";

/**
 * Commit jobs with their idempotency keys, then signal those that are ready. Outcomes stand in the order of the
 * submissions. A signal that fails changes nothing in the answer. Throws when the database is away (see `enqueue`).
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
  const ready = outcomes.flatMap((outcome) =>
    outcome.kind === "created" && outcome.job.status === "queued" ? [outcome.job] : [],
  );
  await announce(deps, ready);
  return outcomes;
}
