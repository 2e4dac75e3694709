import { defineHandler, DoNotRetryError, RetryAfterError, type Handler, type JobContext } from "@atlasqueue/worker";
import { z } from "zod";
import { lookupOf } from "./lookup.ts";
import { postJson, type PostAnswer } from "./post-json.ts";
import { refuseAddressLiteral } from "./public-address.ts";

const timeout_seconds = 10;
const retry_after_seconds_max = 86_400;

const payloadSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  body: z.json().default(null),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
      z
        .string()
        .max(4_096)
        .regex(/^[\x20-\x7e]*$/),
    )
    .default({}),
});

export type WebhookOptions = {
  /** Also deliver to private, loopback and link-local addresses. */
  allow_private: boolean;
};

/**
 * `webhook.deliver {url, body, headers?}`: POSTs the body as JSON. 2xx is success; everything else is retried, even a
 * 4xx, as receivers get fixed and redeployed; a Retry-After is honoured. Redirects are not followed. The receiver gets
 * the job's id in `Idempotency-Key` and `X-AtlasQueue-Job-Id`, the same at every attempt. Addresses inside the network
 * are refused after name resolution, so a public name that points inside does not get through.
 *
 * For a job that waited for others, as the `then` of a batch does, the body says how many of them ended how:
 * `flow: {id, succeeded, dead, cancelled}`. It is added to an object that has no `flow` of its own, and is all there is
 * when no body was given; any other body stays as it is.
 */
export function webhookHandler(options: WebhookOptions): Handler {
  return defineHandler(
    "webhook.deliver",
    payloadSchema,
    async ({ url, body, headers }, { job, signal, parentCounts }) => {
      const target = new URL(url);
      if (!options.allow_private) refuseAddressLiteral(target.hostname);
      const answer = await postJson(target, withFlow(body, await flowOf(job.flow_id, parentCounts)), {
        headers: {
          ...headers,
          "idempotency-key": job.id,
          "x-atlasqueue-job-id": job.id,
          "x-atlasqueue-attempt": String(job.attempt),
        },
        lookup: lookupOf(options),
        signal,
        timeout_ms: timeout_seconds * 1_000,
      });
      if (answer.status >= 200 && answer.status < 300) return { status: answer.status };
      throw failureOf(answer);
    },
    { timeoutSeconds: timeout_seconds + 1 },
  );
}

type Body = z.output<typeof payloadSchema>["body"];
type FlowEnd = { id: string; succeeded: number; dead: number; cancelled: number };

/** What became of the jobs that this one waited for; undefined when it waited for none. */
async function flowOf(id: string | null, parentCounts: JobContext["parentCounts"]): Promise<FlowEnd | undefined> {
  if (id === null) return undefined;
  const counts = await parentCounts();
  const { succeeded, dead, cancelled } = counts;
  return Object.values(counts).some((count) => count > 0) ? { id, succeeded, dead, cancelled } : undefined;
}

function withFlow(body: Body, flow: FlowEnd | undefined): Body {
  if (!flow || Array.isArray(body) || (body !== null && typeof body !== "object")) return body;
  return { flow, ...body };
}

function failureOf({ status, retry_after }: PostAnswer): Error {
  const message = `the receiver answered ${status}`;
  if (status === 410) return new DoNotRetryError(`${message} (gone)`);
  const delay_ms = retryAfterMs(retry_after, Date.now());
  return delay_ms === undefined ? new Error(message) : new RetryAfterError(message, delay_ms);
}

/** Milliseconds a Retry-After header asks for: seconds or an HTTP date (RFC 9110 §10.2.3); at most a day. */
export function retryAfterMs(header: string | undefined, now_ms: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now_ms;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), retry_after_seconds_max * 1_000) : undefined;
}
