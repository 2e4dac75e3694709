import { defineHandler, type Handler, type JobContext } from "@atlasqueue/worker";
import { z } from "zod";
import { deliver } from "./deliver.ts";
import { lookupOf } from "./lookup.ts";
import { refuseAddressLiteral } from "./public-address.ts";
import { defaultSecret, type Secrets } from "./signing.ts";

const timeout_seconds = 10;

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
  secret: z.string().optional(),
});

export type WebhookOptions = {
  /** Also deliver to private, loopback and link-local addresses. */
  allow_private: boolean;
  secrets: Secrets;
};

/**
 * `webhook.deliver {url, body, headers?, secret?}`: POSTs the body as JSON. 2xx is success; everything else is retried, even a
 * 4xx, as receivers get fixed and redeployed; a Retry-After is honoured. Redirects are not followed. The receiver gets
 * the job's id in `Idempotency-Key` and `X-AtlasQueue-Job-Id`, the same at every attempt. Addresses inside the network
 * are refused after name resolution, so a public name that points inside does not get through. It is signed with the secret
 * of that name (see `signatureHeaders`); without a name, with the one called `default`, if there is one.
 *
 * For a job that waited for others, as the `then` of a batch does, the body says how many of them ended how:
 * `flow: {id, succeeded, dead, cancelled}`. It is added to an object that has no `flow` of its own, and is all there is
 * when no body was given; any other body stays as it is.
 */
export function webhookHandler(options: WebhookOptions): Handler {
  return defineHandler(
    "webhook.deliver",
    payloadSchema,
    async ({ url, body, headers, secret }, context) => {
      const { job, parentCounts } = context;
      const target = new URL(url);
      if (!options.allow_private) refuseAddressLiteral(target.hostname);
      return deliver(target, context, {
        body: withFlow(body, await flowOf(job.flow_id, parentCounts)),
        headers,
        keys: keysOf(options.secrets, secret),
        lookup: lookupOf(options),
        timeout_ms: timeout_seconds * 1_000,
      });
    },
    { timeoutSeconds: timeout_seconds + 1 },
  );
}

/** A name that is not known is an error that is retried: the setting may lag behind. */
function keysOf(secrets: Secrets, name: string | undefined): readonly Buffer[] {
  const keys = secrets.get(name ?? defaultSecret);
  if (name !== undefined && !keys) throw new Error(`WEBHOOK_SECRETS has no secret ${JSON.stringify(name)}`);
  return keys ?? [];
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
