import { lookup as systemLookup } from "node:dns";
import { defineHandler, type Handler } from "@atlasqueue/worker";
import { z } from "zod";
import { deliver } from "./deliver.ts";
import { defaultSecret, type Secrets } from "./signing.ts";

/** Of a job without a `timeout_seconds` of its own. */
const timeout_seconds_default = 60;

export type PushOptions = {
  /** Where each job goes. */
  url: string;
  secrets: Secrets;
};

/**
 * Handles jobs of any type: POSTs each to a URL, for functions that run only when they are called. The body is `id`, `type`,
 * `queue`, `tenant`, `attempt`, `max_attempts`, `last_error`, `flow_id` and `payload`. The status decides: 2xx is success, 410
 * makes it a dead letter, everything else is retried, after Retry-After if there is one. Redirects are not followed. The attempt's timeout is the one for the response.
 *
 * @example
 * const handler = pushHandler({ url: "https://jobs.example.org/run", secrets: new Map() });
 */
export function pushHandler({ url, secrets }: PushOptions): Handler {
  const keys = secrets.get(defaultSecret) ?? [];
  return defineHandler(
    "*",
    z.json(),
    (payload, context) =>
      deliver(new URL(url), context, { body: { ...context.job, payload }, keys, lookup: systemLookup }),
    { timeoutSeconds: timeout_seconds_default },
  );
}
