import { submitJob, type SubmitJobInput } from "@atlasqueue/contract";
import type { AtlasEvent, Observe, Signal } from "@atlasqueue/core";
import { defaultTenant, type Deps } from "@atlasqueue/core/internal";
import type { EnqueueOptions, EnqueueOutcome, Submission } from "@atlasqueue/core/internal/http";
import { enqueue } from "@atlasqueue/core/internal/tools";
import { announce } from "@atlasqueue/core/internal/worker";

/**
 * A valid submission: a `noop` in the default queue unless the test says otherwise.
 *
 * @example
 * await enqueue(deps, [submission({ priority: 5 }, "order-17")], { idempotency_ttl_seconds: 60 });
 */
export function submission(request: Partial<SubmitJobInput> = {}, idempotency_key?: string): Submission {
  return { tenant: defaultTenant, request: submitJob.parse({ type: "noop", ...request }), idempotency_key };
}

/** Commits jobs, and then signals those that are ready. Outcomes are in the order of the submissions. */
export async function submit(
  deps: Deps & { signal: Signal },
  submissions: readonly Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const outcomes = await enqueue(deps, submissions, options);
  const made = outcomes.flatMap((one) => (one.kind === "created" ? [one.job] : []));
  await announce(
    deps,
    made.filter(({ status }) => status === "queued"),
  );
  return outcomes;
}

/** Keeps the events it observes. */
export function recordEvents(): {
  events: AtlasEvent[];
  observe: Observe;
  named(name: AtlasEvent["event"]): AtlasEvent[];
} {
  const events: AtlasEvent[] = [];
  return {
    events,
    observe: (event) => void events.push(event),
    named: (name) => events.filter(({ event }) => event === name),
  };
}
