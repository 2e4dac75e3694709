import { submitJob, type SubmitJobInput } from "@atlasqueue/contract";
import type { AtlasEvent, Observe } from "@atlasqueue/core";
import { defaultTenant } from "@atlasqueue/core/internal";
import type { Submission } from "@atlasqueue/core/internal/http";

/**
 * A valid submission: a `noop` in the default queue unless the test says otherwise.
 *
 * @example
 * await enqueue(deps, [submission({ priority: 5 }, "order-17")], { idempotency_ttl_seconds: 60 });
 */
export function submission(request: Partial<SubmitJobInput> = {}, idempotency_key?: string): Submission {
  return { tenant: defaultTenant, request: submitJob.parse({ type: "noop", ...request }), idempotency_key };
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
